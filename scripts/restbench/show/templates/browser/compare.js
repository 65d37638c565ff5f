// Two runs side by side: what `restbench compare` says of them, for any two.
const LEVEL = 0.05;

// [{ one, two, ratio, blocks, isTested, estimate, lack, change, words }] of the cells that both runs have; Holm counts the tested.
function compared(first, second, metric) {
  const others = new Map(second.cells.map((cell) => [cell.id, cell]));
  const lines = first.cells.filter((one) => others.has(one.id)).map((one) => ratioOf(one, others.get(one.id), metric));
  const tested = lines.filter(({ isTested }) => isTested);
  const levels = holmLevels(tested.map(({ ratio }) => pAgainst(ratio)), LEVEL);
  const contradicted = new Set(tested.filter(({ ratio }, n) => pAgainst(ratio) <= levels[n]));
  return lines.map((line) => worded(line, contradicted.has(line), metric));
}

function ratioOf(one, two, metric) {
  const line = { one, two, ratio: null, blocks: 0, isTested: false, estimate: null, lack: "" };
  if (one.size !== two.size) return { ...line, lack: `'${one.factors.complexity}' has another size` };
  const [ones, twos] = [one, two].map((cell) => cell.values[metric]?.[3] ?? []);
  for (const [cell, values] of [[two, twos], [one, ones]]) {
    const isVoid = cell.notes.includes("wrong-answers") && !values.length;
    if (!values.length) return { ...line, lack: `${cell.id} ${isVoid ? "gave a wrong answer" : `has no ${DATA.metrics[metric].name}`}` };
    if (Math.min(...values) <= 0) return { ...line, lack: "a value is not above 0: it has no ratio" };
  }
  const blocks = Math.min(ones.length, twos.length);
  if (blocks === 1) return { ...line, blocks, estimate: mean(twos) / mean(ones) };
  const ratio = welchRatio(twos, ones);
  return { ...line, ratio, blocks, isTested: blocks >= DATA.fewest_blocks, estimate: ratio.estimate };
}

// The p value against "the second is as the first": their ratio lies beyond the margin on either side.
function pAgainst(ratio) {
  const limit = 1 + DATA.margin;
  return Math.min(1, 2 * Math.min(pAbove(ratio, limit), 1 - pAbove(ratio, 1 / limit)));
}

function worded(line, isContradicted, metric) {
  const { one, two, ratio, estimate } = line;
  const limit = 1 + DATA.margin;
  const isSame = line.isTested && Math.max(pAbove(ratio, 1 / limit), 1 - pAbove(ratio, limit)) <= LEVEL;
  const more = DATA.metrics[metric].more_is_better;
  let change = "";
  if (isWorseWhateverItsSpeed(one, two, metric)) change = "worse";
  else if (isContradicted) change = more === null ? "changed" : estimate > 1 === more ? "better" : "worse";
  else if (isSame) change = "the same";
  const words = line.lack ? (change === "worse" ? `worse: ${line.lack}` : line.lack) : change || `too imprecise (${reason(line)})`;
  return { ...line, change: change || (line.lack ? "no ratio" : "too imprecise"), words };
}

// Why a ratio has no verdict.
function reason({ ratio, blocks, isTested }) {
  if (!ratio) return "one block, so no interval";
  if (!isTested) return `${blocks} blocks, a verdict needs ${DATA.fewest_blocks}`;
  const width = 100 * (ratio.high / ratio.estimate - 1);
  const isOnMargin = width <= 2 && pAgainst(ratio) > LEVEL;
  return `${width <= 100 ? `± ${width.toFixed(1)} %` : "more than ± 100 %"}${isOnMargin ? ", on the margin" : ""}`;
}

// Wrong answers, failures and nothing but errors.
function isWorseWhateverItsSpeed(one, two, metric) {
  const has = (cell, note) => cell.notes.includes(note);
  return ((one.values[0]?.[0] ?? 0) > 0 && two.answers_nothing)
    || (one.values[metric] && !two.measured && has(two, "failed"))
    || (has(two, "wrong-answers") && !has(one, "wrong-answers"));
}

function showCompare(state) {
  if (DATA.runs.length < 2) return ["Two runs side by side", "one run", element("p", {}, "There is only one run. A comparison needs two.")];
  const known = (name) => DATA.runs.find((run) => run.name === name);
  const second = known(state.second) ?? DATA.runs.findLast(predecessor) ?? DATA.runs.at(-1);
  const first = known(state.first) ?? predecessor(second) ?? DATA.runs.find((run) => run !== second);
  const metric = chosenMetric(state);
  const choices = DATA.runs.map((run) => [run.name, `${run.name} (${commitOf(run)})`]).reverse();
  const controls = element("div", { class: "controls" },
    chooser("First", "first", choices, first.name), chooser("Second", "second", choices, second.name), metricChooser(state),
    element("a", { href: address({ first: second.name, second: first.name }) }, "Swap"));
  const isOneMachine = first.machine === second.machine;
  const lines = compared(first, second, metric).filter(({ one }) => passes(state, "ofCell", one))
    .map((line) => (isOneMachine || line.lack ? line : { ...line, change: "another machine", words: "another machine: not judged" }))
    .sort((a, b) => CHANGES.indexOf(a.change) - CHANGES.indexOf(b.change));
  const counts = CHANGES.map((change) => [change, lines.filter((line) => line.change === change).length]).filter(([, count]) => count);
  const counted = counts.map(([change, count]) => `${count} ${change}`).join(", ");
  return ["Two runs side by side", `${plural(lines.length, "cell")} in both${counted ? `: ${counted}` : ""}`, controls, differences(first, second),
    lines.length ? table(`${DATA.metrics[metric].heading}: ${second.name} over ${first.name}`, compareColumns(metric), lines) : element("p", {}, "No cell that passes the filters is in both runs."),
    element("p", { class: "soft" }, `Intervals are log-Welch over the blocks of each run. They include the variation between blocks, but not between days. Changes are significant at 5 % over all common cells together (Holm); a difference within ${100 * DATA.margin} % is not a change. Where service and load generator share cores, throughput hides a part of a difference: compare CPU time as well.`)];
}

const metricChooser = (state) => chooser("Metric", "metric", DATA.metrics.map((metric) => [metric.name, metric.heading]), state.metric);

// What a reader looks for stands first.
const CHANGES = ["worse", "better", "changed", "another machine", "too imprecise", "the same", "no ratio"];
const CLASSES = { worse: "bad", better: "good" };
const compareColumns = (metric) => [
  { heading: "Cell", cell: ({ one }) => element("a", { href: address({ view: "trend", cell: one.key }) }, one.id) },
  { heading: "Verdict", cell: ({ words, change }) => element("td", { class: `prose verdict ${CLASSES[change] ?? ""}` }, words) },
  { heading: "Second / first", cell: ({ ratio, estimate: value }) => estimate([value, ratio?.low, ratio?.high]), number: true },
  { heading: "½ to 2 times", cell: ratioBar },
  { heading: "First", cell: ({ one }) => estimate(one.values[metric]), number: true },
  { heading: "Second", cell: ({ two }) => estimate(two.values[metric]), number: true },
];

// The interval on a logarithmic scale from half to twice; the band is the margin.
function ratioBar({ ratio, estimate: value }) {
  if (value === null) return element("td");
  const at = (x) => 50 + 50 * Math.max(-1, Math.min(1, Math.log2(x)));
  const bar = element("span", { class: "ratio", "aria-hidden": "true" });
  const [low, high] = ratio ? [ratio.low, ratio.high] : [value, value];
  bar.append(
    element("i", { class: "margin", style: `left:${at(1 / (1 + DATA.margin))}%;right:${100 - at(1 + DATA.margin)}%` }),
    element("i", { class: "range", style: `left:${at(low)}%;right:${100 - at(high)}%` }),
    element("i", { class: "dot", style: `left:${at(value)}%` }));
  return element("td", {}, bar);
}

// What differs between two runs besides the code.
function differences(first, second) {
  const [one, two] = [first.versions, second.versions];
  const notes = Object.keys({ ...one, ...two }).filter((name) => one[name] !== two[name]).map((name) => `different ${name.replaceAll("_", " ")}: ${one[name] ?? "unknown"} and ${two[name] ?? "unknown"}`);
  for (const [name, of] of [["commit", commitOf], ["experiment", (run) => run.experiment], ["profile", (run) => run.profile]]) {
    if (of(first) !== of(second)) notes.push(`different ${name}: ${of(first)} and ${of(second)}`);
  }
  const machines = first.machine === second.machine ? null
    : element("p", { class: "bad" }, `Different machines: ${DATA.machines[first.machine]} and ${DATA.machines[second.machine]}. Their ratio says nothing about the code.`);
  return [machines, notes.length ? element("ul", { class: "notes" }, notes.map((note) => element("li", {}, note))) : null];
}
