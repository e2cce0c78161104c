/* The page around holds.js. All that is shown follows from the address: #paytable=9/6&hand=AsKsQsJs2c. */

const byId = (id) => document.getElementById(id);
const game = JSON.parse(byId("game").textContent, (key, value) =>
  ["units", "dealUnits", "bonusUnits", "multipliers"].includes(key) && value ? value.map(BigInt)
    : ["factor", "scale", "coins"].includes(key) ? BigInt(value) : value);
const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };
const spellings = new Map(Object.entries(game.spellings));
const longest = Math.max(...[...spellings.keys()].map((word) => word.length));
const title = document.title;
let tables, answer, selected, gap = null;  // gap: where the next card goes, after one was taken out of the hand

// --- words and numbers ---------------------------------------------------------------------------------------------

/** An element with attributes (properties, where they are functions or booleans) and children. */
function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "string" || typeof value === "number") made.setAttribute(name, value);
    else if (value !== undefined) made[name] = value;
  }
  made.append(...children.flat());
  return made;
}

const grouped = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const names = (cards) => cards.map((card) => game.names[card]).join(" ");
const gcd = (a, b) => (b ? gcd(b, a % b) : a);

/** An exact fraction to so many places, half to even. */
function decimal(above, below, places = 6) {
  const scaled = above * 10n ** BigInt(places);
  let whole = scaled / below;
  const twice = 2n * (scaled - whole * below);
  if (twice > below || twice === below && whole % 2n) whole += 1n;
  const digits = String(whole).padStart(places + 1, "0");
  return `${grouped(digits.slice(0, -places))}.${digits.slice(-places)}`;
}

/** A cost: to six places, or to its first digits where these would be zero. */
function cost(above, below) {
  return above && above * 2000000n < below ? (Number(above) / Number(below)).toExponential(2) : decimal(above, below);
}

function fraction(above, below) {
  const common = gcd(above, below);
  return `${grouped(above / common)}/${grouped(below / common)}`;
}

/** The expected win as it is said: credits won per draw, or the reduced fraction where that is no integer. */
function exact({ won, draws }, table) {
  const stake = table.scale * table.coins;
  return won % stake ? fraction(won, stake * BigInt(draws)) : `${grouped(won / stake)}/${grouped(draws)}`;
}

const credits = (units, table) => {
  const common = gcd(units, table.scale);
  return grouped(units / common) + (common === table.scale ? "" : `/${table.scale / common}`);
};

// --- cards ---------------------------------------------------------------------------------------------------------

/** The numbers of the cards that a text names; throws what is wrong with it. */
function parse(text) {
  const cards = [];
  for (let at = 0; at < text.length;) {
    if (/[\s,]/.test(text[at])) { at++; continue; }
    let length = longest;
    while (length && !spellings.has(text.slice(at, at + length).toLowerCase())) length--;
    if (!length) throw new Error(`“${text.slice(at).split(/\s/)[0]}” is not a card of this deck. Write cards like `
      + `${names(game.example.slice(0, 2))}.`);
    cards.push(spellings.get(text.slice(at, at + length).toLowerCase()));
    at += length;
  }
  for (const card of cards) {
    const times = cards.filter((other) => other === card).length;
    if (times > game.copies[card])
      throw new Error(`${game.names[card]} is named ${times} times; the deck has ${game.copies[card]}.`);
  }
  if (cards.length > 5) throw new Error(`A hand has five cards; these are ${cards.length}.`);
  return cards;
}

/** A card as people see it: rank and suit, and the class of its colour. */
function look(card) {
  const name = game.names[card], suit = game.suitNames[game.suit[card]];  // none of a card without a suit
  if (suit === undefined) return { rank: name === "Joker" ? "★" : name, suit: "", kind: "card odd" };
  return { rank: name.slice(0, -suit.length), suit: SUITS[suit] || suit, kind: `card suit-${suit}` };
}

function chip(card) {
  const { rank, suit, kind } = look(card);
  return make("span", { class: kind, ...(suit ? {} : { role: "img", "aria-label": game.names[card] }) }, rank + suit);
}

const chips = (cards) => make("span", { class: "chips" }, cards.map(chip));

function cardButton(card, attributes) {
  const { rank, suit, kind } = look(card);
  return make("button", { type: "button", class: kind, ...attributes }, make("b", {}, rank), make("i", {}, suit));
}

// --- the address: the only state -------------------------------------------------------------------------------------

function address(table, cards) {
  const label = encodeURIComponent(table.label).replace(/%2F/g, "/").replace(/%2C/g, ",");
  return `#paytable=${label}&hand=${cards.map((card) => encodeURIComponent(game.names[card])).join("")}`;
}

function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const table = game.paytables.find(({ label }) => label === asked.get("paytable"));
  const unknown = !table && asked.get("paytable");
  const text = asked.get("hand") || "", found = { table: table || game.paytables[0], cards: [], text, fault: "" };
  if (unknown) found.fault = `There is no paytable “${unknown}” on this page; this is the first.`;
  try { found.cards = parse(text); } catch (problem) { found.fault = problem.message; }
  return found;
}

/** Go to a hand; only whole hands make a step in the history. */
function go(cards, table = readAddress().table) {
  const to = address(table, cards);
  if (to === location.hash) show();
  else if (cards.length === 5) location.hash = to;
  else location.replace(to);
}

function pick(card) {
  const { cards } = readAddress(), held = cards.filter((other) => other === card).length;
  if (held === game.copies[card] || held && cards.length === 5) return takeOut(cards.lastIndexOf(card));
  if (cards.length === 5) { gap = null; return go([card]); }  // a new hand
  const hand = [...cards];
  hand.splice(gap ?? hand.length, 0, card);
  gap = null;
  return go(hand);
}

function takeOut(place) {
  const { cards } = readAddress();
  gap = place;
  go(cards.filter((_, i) => i !== place));
}

function deal() {
  const left = game.copies.flatMap((times, card) => Array(times).fill(card));
  gap = null;
  go([0, 1, 2, 3, 4].map(() => left.splice(Math.floor(Math.random() * left.length), 1)[0]));
}

// --- what is seen ----------------------------------------------------------------------------------------------------

function show() {
  const { table, cards, text, fault } = readAddress();
  byId("paytable").value = table.label;
  byId("sheet").href = `${table.folder}/par-sheet.html`;
  byId("sheet").textContent = `PAR sheet of ${table.label}`;
  byId("fault").textContent = fault;
  byId("hand").value = cards.length ? names(cards) : text;
  showDeck(cards);
  showHand(cards);
  showNotable(table);
  document.title = `${cards.length ? `${names(cards)}, ` : ""}${table.label}: ${title}`;
  answer = cards.length === 5 ? solveHand(tables, cards, table) : null;
  selected = answer && answer.holds[0].mask;
  showVerdict(cards, table);
  showHolds(cards, table);
}

function showDeck(cards) {
  for (const button of byId("deck").querySelectorAll("button")) {
    const card = Number(button.dataset.card), times = cards.filter((other) => other === card).length;
    button.setAttribute("aria-pressed", times > 0);
    button.querySelector("small")?.replaceChildren(`${game.copies[card] - times}×`);
  }
}

function showHand(cards) {
  const places = [0, 1, 2, 3, 4].map((i) => {
    const open = gap !== null && cards.length < 5 ? i === gap : i === cards.length;
    const at = gap !== null && cards.length < 5 && i > gap ? i - 1 : i;
    return open || cards[at] === undefined ? make("span", { class: `card empty${open ? " next" : ""}` })
      : cardButton(cards[at], { onclick: () => takeOut(at), title: "Take it out of the hand",
        "aria-label": `${game.names[cards[at]]}: take it out of the hand` });
  });
  byId("cards").replaceChildren(...places);
}

function showNotable(table) {
  if (byId("notable").dataset.of === table.label) return;
  byId("notable").dataset.of = table.label;
  const list = (hands) => make("ul", {}, hands.map((hand) => make("li", {},
    make("a", { href: address(table, hand), "aria-label": names(hand) }, chips(hand)))));
  byId("notable").replaceChildren(...table.notable.flatMap(({ title, note, hands }) => [
    make("h3", {}, title), make("p", { class: "note" }, note), ...(hands.length ? [list(hands)] : [])]));
}

function showVerdict(cards, table) {
  if (!answer) {
    byId("verdict").replaceChildren(make("p", { class: "note" },
      cards.length ? `${cards.length} of five cards.` : "Pick five cards, type a hand, or deal one at random."));
    return;
  }
  const { holds, best, denominator, outcome, bonus } = answer, optimal = holds.filter((hold) => hold.optimal);
  const paid = (table.dealUnits || table.units)[outcome], pat = holds.find(({ mask }) => mask === 31);
  const held = ({ mask }) => (mask ? ["hold ", chips(members(mask).map((i) => cards[i]))] : ["draw five cards"]);
  const bet = table.coins === 1n ? "1 credit" : `${table.coins} credits`;
  const lines = [make("p", {}, "Dealt: ", make("strong", {}, game.wins[outcome]),
    paid ? `, which pays ${credits(paid, table)} for ${bet} if it is held.` : ", which pays nothing.")];
  if (game.bonuses[bonus]) lines.push(make("p", {}, `The deal also pays a bonus of ${credits(table.bonusUnits[bonus],
    table)} (${game.bonuses[bonus]}), whatever is held; it is no part of the values below.`));
  lines.push(make("p", { class: "best" }, optimal.length > 1 ? `${optimal.length} holds are exactly equal: ` : "Best: ",
    optimal.flatMap((hold, i) => [i ? " or " : "", ...held(hold)]),
    optimal.length > 1 ? " (the strategy table of the run takes the first)" : "",
    ". Expected win ", make("strong", {}, decimal(best, denominator)), " credits per credit bet."));
  const second = holds.find((hold) => !hold.optimal);
  if (second) lines.push(make("p", { class: "note" }, "The next best, ", ...held(second), ", costs ",
    cost(best - second.value, denominator),
    paid && !pat.optimal && pat !== second ? `; standing pat costs ${cost(best - pat.value, denominator)}.` : "."));
  byId("verdict").replaceChildren(...lines);
}

function showHolds(cards, table) {
  byId("answer").hidden = !answer;
  if (!answer) return;
  const { holds, best, denominator } = answer, tied = holds.filter(({ optimal }) => optimal).length > 1;
  byId("holds").replaceChildren(...holds.flatMap((hold, number) => {
    const held = members(hold.mask), open = hold.mask === selected, first = selected === null && !number;
    const button = make("button", { type: "button", class: "chips choice", tabIndex: open || first ? 0 : -1,
      "aria-expanded": String(open), "aria-label": `Hold ${names(held.map((i) => cards[i])) || "nothing"}` },
    cards.map((card, i) => (held.includes(i) ? chip(card) : make("span", { class: "out" }, "·"))));
    const row = make("tr", { class: hold.optimal ? "optimal" : "", onclick: () => select(hold.mask) },
      make("th", { scope: "row" }, button),
      make("td", { class: "number" }, decimal(hold.value, denominator)),
      make("td", { class: "number wide" }, exact(hold, table)),
      make("td", { class: hold.optimal ? "number good" : "number cost" },
        hold.optimal ? (tied ? "tied" : "best") : cost(best - hold.value, denominator)));
    row.dataset.mask = hold.mask;
    return open ? [row, make("tr", { class: "open" }, make("td", { colSpan: 4 }, draws(hold, table)))] : [row];
  }));
  showAll(cards);
}

/** The draws of all holds, where people want to see them. */
function showAll(cards) {
  if (!answer || !byId("every").open) return;
  byId("all-head").replaceChildren(make("tr", {}, ["hold", ...game.wins].map((name, i) =>
    make("th", { scope: "col", class: i ? "number" : "" }, name))));
  byId("all").replaceChildren(...answer.holds.map(({ mask, counts, optimal }) =>
    make("tr", { class: optimal ? "optimal" : "" },
      make("th", { scope: "row" }, mask ? chips(members(mask).map((i) => cards[i])) : "nothing"),
      [...counts].map((n) => make("td", { class: n ? "number" : "number none" }, grouped(n))))));
}

const figures = (...texts) => texts.map((text, i) => make("td", { class: i === 2 ? "number wide" : "number" }, text));

/** The draws of one hold by what they end in. */
function draws(hold, table) {
  const { best, denominator } = answer, below = BigInt(hold.draws) * table.scale * table.coins;
  const rows = game.wins.map((name, c) => {
    const n = BigInt(hold.counts[c]);
    return make("tr", { class: n ? "" : "none" }, make("th", { scope: "row" }, name),
      figures(credits(hold.units[c], table), grouped(n), `${decimal(100n * n, BigInt(hold.draws), 4)} %`,
        decimal(n * hold.units[c], below)));
  });
  const heads = [["", "ends in", ""], ["number", "pays", `for ${table.coins}`],
    ["number", "draws", game.ordered ? "in order" : ""], ["number wide", "chance", ""],
    ["number", "adds", "per credit"]];
  return [make("table", { class: "draws" },
    make("caption", { class: "note" }, `${grouped(hold.draws)} draw${hold.draws > 1 ? "s" : ""}, by what they end in`),
    make("thead", {}, make("tr", {}, heads.map(([kind, head, unit]) =>
      make("th", { scope: "col", class: kind }, head, unit && make("span", { class: "unit" }, unit))))),
    make("tbody", {}, rows),
    make("tfoot", {}, make("tr", {}, make("th", { scope: "row" }, "all draws"),
      figures("", grouped(hold.draws), "100 %", decimal(hold.value, denominator))))),
  make("p", { class: "note" }, `Exactly ${exact(hold, table)} = ${grouped(hold.value)} / ${grouped(denominator)}, the `
    + `denominator of all holds. ${hold.optimal ? "No hold is better." : `It costs ${fraction(best - hold.value,
      denominator)} = ${cost(best - hold.value, denominator)} credits per credit bet.`}`)];
}

function select(mask) {
  const { table, cards } = readAddress();
  selected = mask === selected ? null : mask;
  showHolds(cards, table);
  byId("holds").querySelector(`[data-mask="${mask}"] button`).focus({ preventScroll: true });
}

/** The arrow keys go from button to button: one stop of the tab key for all of them. */
function rove(box, steps) {
  box.addEventListener("keydown", (event) => {
    const buttons = [...box.querySelectorAll("button")], at = buttons.indexOf(event.target);
    const to = event.key === "Home" ? 0 : event.key === "End" ? buttons.length - 1 : at + (steps[event.key] || 0);
    if (at < 0 || to === at || !buttons[to]) return;
    event.preventDefault();
    buttons[at].tabIndex = -1;
    buttons[to].tabIndex = 0;
    buttons[to].focus();
  });
}

// --- start -----------------------------------------------------------------------------------------------------------

async function inflate(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

async function start() {
  const outcomes = new Uint8Array(await inflate(game.packed.outcomes));
  tables = buildTables(game, outcomes);
  tables.bonuses = game.packed.bonuses && new Uint8Array(await inflate(game.packed.bonuses));
  if (game.ordered) {
    const bytes = new DataView(await inflate(game.packed.finalHands));
    tables.finalHands = Uint16Array.from({ length: bytes.byteLength / 2 }, (_, i) => bytes.getUint16(2 * i, true));
  }
  byId("paytable").append(...game.paytables.map(({ label }) => make("option", { value: label }, label)));
  byId("paytable").onchange = (event) => go(readAddress().cards,
    game.paytables.find(({ label }) => label === event.target.value));
  const ordinary = [...Array(game.suits).keys()].reverse()
    .flatMap((suit) => game.names.map((_, card) => card).filter((card) => game.suit[card] === suit));
  const others = game.names.map((_, card) => card).filter((card) => game.suit[card] === game.suits);
  byId("deck").style.setProperty("--columns", game.faces);
  byId("deck").append(...[...ordinary, ...others].map((card, i) => {
    const button = cardButton(card,
      { onclick: () => pick(card), tabIndex: i ? -1 : 0, "aria-label": game.names[card] });
    button.dataset.card = card;
    if (game.copies[card] > 1) button.append(make("small", {}));
    return button;
  }));
  rove(byId("deck"), { ArrowRight: 1, ArrowLeft: -1, ArrowDown: game.faces, ArrowUp: -game.faces });
  rove(byId("holds"), { ArrowDown: 1, ArrowUp: -1 });
  byId("ask").onsubmit = (event) => {
    event.preventDefault();
    try { gap = null; go(parse(byId("hand").value)); } catch (problem) { byId("fault").textContent = problem.message; }
  };
  byId("random").onclick = deal;
  byId("clear").onclick = () => { gap = null; go([]); byId("hand").focus(); };
  byId("every").ontoggle = () => showAll(readAddress().cards);
  window.addEventListener("hashchange", show);
  byId("wait").remove();
  byId("explorer").hidden = false;
  show();
}

/** For programs: the answer to a hand, as `autohold hold --json` gives it. */
async function ask(text, label) {
  await ready;
  const cards = parse(text), table = game.paytables.find((other) => other.label === label);
  const { holds, denominator, outcome } = solveHand(tables, cards, table);
  return { win: game.wins[outcome], denominator: String(denominator),
    holds: holds.map(({ mask, value, draws, optimal, chosen, counts }) =>
      ({ mask, value: String(value), draws, optimal, chosen, counts: [...counts] })) };
}

const ready = start().catch((problem) => {
  byId("wait").textContent = `The explorer cannot start in this browser (${problem.message}). It needs a browser of `
    + "2023 or later; autohold hold answers the same questions.";
  throw problem;
});
