"use strict";
/* The exact value of every hold of a hand, from how each canonical hand of five cards is classified.

   The method is that of evaluator/symmetry.py, holds.py and ordered.py: canonical hands grow card by card; T[k] counts
   the five-card hands that contain k cards, by outcome; inclusion and exclusion over the discards makes of it the draws
   of each hold. Counts are numbers: none exceeds 5 * (deals, in order where order matters), and the page is only made
   where that is below 2^53, so each is exact. Values are BigInt. Nothing is rounded. */

/** Everything about a game that no hand changes: where a card more leads, and T. Throws where T does not add up. */
function buildTables(game, outcomes) {
  const { kinds, copies, face, faces, suit, suits, components, decks } = game, width = game.wins.length;
  const before = [], first = [], renaming = [Uint16Array.from({ length: kinds }, (_, card) => card)];
  for (const component of components) {
    component.forEach((from, place) => {  // the renamings that move a suit up by 1, 2, … places in its component
      before[from] = component.slice(0, place);
      first[from] = renaming.length - 1;
      for (let goal = place - 1; goal >= 0; goal--) {
        const to = Array.from({ length: suits }, (_, s) => s);
        to[from] = component[goal];
        for (let i = goal; i < place; i++) to[component[i]] = component[i + 1];
        renaming.push(Uint16Array.from({ length: kinds }, (_, card) =>
          suit[card] < suits ? face[card] * suits + to[suit[card]] : card));
      }
    });
  }
  const base = Math.min(decks, 5) + 1;
  const power = Array.from(face, (f) => base ** (faces - 1 - f));  // of a card in its suit's column; lower faces lead
  const hands = [[]], child = [], turn = [];
  const left = (k, row, card) => {
    let count = copies[card];
    for (let i = k * row; i < k * row + k; i++) count -= hands[k][i] === card;
    return count;
  };
  const column = new Float64Array(suits + 1), sorted = new Uint16Array(5);
  for (let k = 0; k < 5; k++) {
    const old = hands[k], rows = k ? old.length / k : 1, grown = [];
    const to = new Int32Array(rows * kinds).fill(-1), by = new Uint8Array(rows * kinds);
    let count = 0;
    for (let row = 0; row < rows; row++) {
      column.fill(0);
      for (let i = k * row; i < k * row + k; i++) column[suit[old[i]]] += power[old[i]];
      const last = k ? old[k * row + k - 1] : 0;
      for (let card = 0; card < kinds; card++) {
        if (left(k, row, card) <= 0) continue;
        const at = row * kinds + card, from = suit[card];
        let up = 0;
        if (from < suits) for (const s of before[from]) up += column[from] + power[card] > column[s];
        if (up) by[at] = first[from] + up;
        to[at] = up || card < last ? -2 : count++;
        if (to[at] >= 0 && k < 4) grown.push(...old.slice(k * row, k * row + k), card);
      }
    }
    child.push(to), turn.push(by), hands.push(grown);
    if (k === 4 && count !== outcomes.length) throw new Error(`${count} canonical hands, not ${outcomes.length}`);
    for (let at = 0; at < to.length; at++) {
      if (to[at] !== -2) continue;  // follow the renamed and sorted hand from its lowest card
      const row = Math.floor(at / kinds), rename = renaming[by[at]];
      for (let i = 0; i <= k; i++) {
        const card = rename[i < k ? old[k * row + i] : at % kinds];
        let place = i;
        for (; place > 0 && sorted[place - 1] > card; place--) sorted[place] = sorted[place - 1];
        sorted[place] = card;
      }
      let found = 0;
      for (let i = 0; i <= k; i++) found = child[i][found * kinds + sorted[i]];
      to[at] = found;
    }
  }
  const T = [];
  for (let k = 4; k >= 0; k--) {
    const rows = child[k].length / kinds, sums = T[k] = new Float64Array(rows * width);
    for (let row = 0; row < rows; row++) {
      for (let card = 0; card < kinds; card++) {
        const next = child[k][row * kinds + card];
        if (next < 0) continue;
        const times = left(k, row, card);
        if (k === 4) sums[row * width + outcomes[next]] += times;
        else for (let c = 0; c < width; c++) sums[row * width + c] += times * T[k + 1][next * width + c];
      }
      for (let c = 0; k < 4 && c < width; c++) sums[row * width + c] /= 5 - k;
    }
  }
  if (String(T[0]) !== String(game.counts)) throw new Error(`hands of each win: ${T[0]}, not ${game.counts}`);
  return { game, outcomes, renaming, child, turn, T, placements: permutations([0, 1, 2, 3, 4]) };
}

/** All arrangements, ascending. */
function permutations(items) {
  if (!items.length) return [[]];
  return items.flatMap((item) => permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]));
}

/** The row of the class of some cards in any order, and the cards of that row where these went. */
function locate(tables, cards) {
  const { child, turn, renaming, game } = tables, renamed = [...cards];
  let row = 0;
  for (let i = 0; i < cards.length; i++) {
    const at = row * game.kinds + renamed[i];
    row = child[i][at];
    for (let j = 0; j < cards.length; j++) renamed[j] = renaming[turn[i][at]][renamed[j]];
  }
  return { row, renamed };
}

const members = (mask) => [0, 1, 2, 3, 4].filter((i) => mask >> i & 1);

/** For each mask of a hand, the draws that end in each outcome; in order, where order matters. */
function drawCounts(tables, hand, meetings) {
  const { game, T, outcomes } = tables, width = game.wins.length, counts = [];
  for (let mask = 0; mask < 32; mask++) {
    const held = members(mask), { row } = locate(tables, held.map((i) => hand[i])), k = held.length;
    counts[mask] = k < 5 ? T[k].slice(row * width, row * width + width) : new Float64Array(width);
    if (k === 5) counts[mask][outcomes[row]] = 1;
  }
  for (let bit = 1; bit < 32; bit *= 2)
    for (let mask = 0; mask < 32; mask++)
      if (!(mask & bit)) for (let c = 0; c < width; c++) counts[mask][c] -= counts[mask | bit][c];
  if (game.ordered) {
    const orders = [120, 24, 6, 2, 1, 1], moved = corrections(tables, meetings, [0, 1, 2, 3, 4]);
    counts.forEach((row, mask) => {
      for (let c = 0; c < width; c++) row[c] *= orders[members(mask).length];
      game.ordered.changes.forEach(([from, to], change) => {
        row[from] -= moved[mask][change];
        row[to] += moved[mask][change];
      });
    });
  }
  return counts;
}

/** How many order-dependent final hands of each pattern meet the hand in each mask, by which of their cards. */
function finalHands(tables, hand) {
  const place = new Int8Array(tables.game.kinds).fill(-1), met = new Map(), final = tables.finalHands;
  hand.forEach((card, i) => { place[card] = i; });
  for (let at = 0; at < final.length; at += 6) {  // five ascending cards and their pattern
    let mask = 0, which = 0;
    for (let j = 0; j < 5; j++) {
      const i = place[final[at + j]];
      if (i >= 0) mask |= 1 << i, which |= 1 << j;
    }
    const key = (final[at + 5] * 32 + mask) * 32 + which;
    met.set(key, (met.get(key) || 0) + 1);
  }
  return [...met].map(([key, times]) => {
    const mask = key >> 5 & 31;
    // Card number which[n] of a final hand is the hand's card held[n]: both go by ascending cards.
    const held = members(mask).sort((a, b) => hand[a] - hand[b]);
    return { times, mask, pattern: key >> 10, held, which: members(key & 31) };
  });
}

/** For each mask of the hand's cards and each change, the final hands that make it, if card i stands at places[i]. */
function corrections(tables, meetings, places) {
  const { patterns, changes } = tables.game.ordered;
  const moved = Array.from({ length: 32 }, () => changes.map(() => 0));
  for (const { times, mask, pattern, held, which } of meetings)
    for (const [number, change] of patterns[pattern]) {
      const placement = tables.placements[number];  // where each card of the final hand stands
      if (held.every((i, n) => placement[which[n]] === places[i])) moved[mask][change] += times;
    }
  return moved;
}

/** Where each card of the hand stands in the row of the strategy table that stands for it: masks there decide ties. */
function placesInRow(tables, hand, meetings) {
  const { renamed } = locate(tables, hand);
  const order = [0, 1, 2, 3, 4].sort((a, b) => renamed[a] - renamed[b] || a - b);
  const rank = order.map((_, i) => order.indexOf(i));
  if (!tables.game.ordered) return rank;
  const shown = String(corrections(tables, meetings, [0, 1, 2, 3, 4]));
  // The row shows the least of the arrangements whose places change as much as those of the hand do.
  const least = tables.placements.find((arrangement) =>
    String(corrections(tables, meetings, rank.map((r) => arrangement.indexOf(r)))) === shown);
  return rank.map((r) => least.indexOf(r));
}

/** All holds of a hand under a paytable, best first; of equal ones the chosen one first. Equal holds appear once.

    A hold's `value` over `denominator` is its expected win in credits per credit bet. */
function solveHand(tables, hand, paytable) {
  const { game } = tables, meetings = game.ordered ? finalHands(tables, hand) : [];
  const counts = drawCounts(tables, hand, meetings);
  const holds = counts.flatMap((draws, mask) => {
    const repeated = hand.some((card, j) => mask >> j & 1 && hand.some((other, i) =>
      i < j && other === card && !(mask >> i & 1)));
    if (repeated) return [];
    const units = mask === 31 && paytable.dealUnits || paytable.units, k = members(mask).length;
    const sum = (each) => draws.reduce((total, n, c) => total + BigInt(n) * each(units[c]), 0n);
    const won = sum((unit) => unit);
    return [{ mask, counts: draws, draws: game.draws[k], won, units, value: won * game.multipliers[k],
      square: () => sum((unit) => unit * unit) * game.multipliers[k] }];
  });
  const best = holds.reduce((most, { value }) => (value > most ? value : most), holds[0].value);
  const optimal = holds.filter(({ value }) => value === best);
  let chosen = optimal[0];
  if (optimal.length > 1) {
    const places = placesInRow(tables, hand, meetings);
    const inRow = ({ mask }) => members(mask).reduce((moved, i) => moved | 1 << places[i], 0);
    optimal.sort((a, b) => inRow(a) - inRow(b));
    const sign = { "lowest-mask": 0n, "least-variance": 1n, "most-variance": -1n }[game.tieBreak];
    chosen = optimal.reduce((first, next) => (sign * (next.square() - first.square()) < 0n ? next : first));
  }
  const isBest = ({ value }) => value === best;
  holds.sort((a, b) => (a.value > b.value ? -1 : a.value < b.value ? 1 : (b === chosen) - (a === chosen)));
  for (const hold of holds) Object.assign(hold, { optimal: isBest(hold), chosen: hold === chosen });
  const { row } = locate(tables, hand), pat = holds.find(({ mask }) => mask === 31);
  return { holds, best, denominator: game.factor * paytable.scale * paytable.coins,
    outcome: pat.counts.indexOf(1), bonus: tables.bonuses ? tables.bonuses[row] : null };
}
