"use strict";
// Sorting and filtering of the table of all paytables. Without this script it is a plain table.
(() => {
  const table = document.getElementById("paytables");
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  const rows = [...body.rows].map((row, place) => {
    const texts = [...row.cells].map((cell) => cell.textContent.trim());
    return { row, place, texts, words: `${texts[0]} ${texts[1]}`.toLowerCase() };
  });
  const numeric = headings.map((heading) => heading.classList.contains("number"));
  for (const entry of rows) {
    entry.keys = entry.texts.map((text, column) => (numeric[column] ? Number(text.replaceAll(",", "")) : text));
  }
  const words = new Intl.Collator("en", { numeric: true });

  function sort(column) {
    const heading = headings[column];
    // Figures are first sorted from the greatest down, words from A on.
    const first = numeric[column] ? "descending" : "ascending";
    const second = numeric[column] ? "ascending" : "descending";
    const order = heading.getAttribute("aria-sort") === first ? second : first;
    for (const other of headings) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const compare = numeric[column] ? (a, b) => a - b : words.compare;
    rows.sort((a, b) => sign * compare(a.keys[column], b.keys[column]) || a.place - b.place);
    body.append(...rows.map((entry) => entry.row));
  }

  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(heading.firstChild);
    heading.prepend(button);
    button.addEventListener("click", () => sort(column));
  });

  const form = document.getElementById("filter");
  const [text, game, low, high, calm] = ["text", "game", "low", "high", "calm"].map((name) =>
    document.getElementById(`f-${name}`));
  const count = document.getElementById("f-count");
  const bound = (input, otherwise) => (Number.isNaN(input.valueAsNumber) ? otherwise : input.valueAsNumber);

  function filter() {
    const wanted = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const [least, most, variance] = [bound(low, -Infinity), bound(high, Infinity), bound(calm, Infinity)];
    let shown = 0;
    for (const { row, words: own, texts, keys } of rows) {
      const payback = 100 * keys[3];
      const fits = wanted.every((word) => own.includes(word)) && (!game.value || texts[0] === game.value) &&
        payback >= least && payback <= most && keys[4] <= variance;
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${rows.length} shown`;
  }

  form.hidden = false;
  for (const event of ["input", "change"]) form.addEventListener(event, filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  filter();
})();
