// Every cell of every run that passes the filters, with its intervals and warnings.
const MOST_ROWS = 250;

const METRIC_COLUMNS = DATA.metrics.map((metric, n) => ({
  heading: metric.heading, sort: metric.name, number: true, metric: n,
  value: (entry) => entry.values[n]?.[0] ?? null, cell: (entry) => estimate(entry.values[n]),
}));

const COLUMNS = [
  { heading: "Run", sort: "run", value: (entry) => entry.run.started, cell: (entry) => element("td", {}, pageLink(entry), element("span", { class: "ends" }, `${entry.run.experiment}, ${commitOf(codeOf(entry.run, entry.factors))}`)) },
  ...["service", "framework", "strategy", "size", "users"].map(factorColumn),
  // The numbers of most runs stand before what few cells differ in, so that they are seen without scrolling.
  ...METRIC_COLUMNS.filter(isCommon),
  ...FACTORS.map(factorColumn),
  ...METRIC_COLUMNS.filter((column) => !isCommon(column)),
  { heading: "Warnings", prose: true, cell: warnings },
  { heading: "Over runs", cell: (entry) => element("a", { href: address({ view: "trend", cell: entry.key }), "aria-label": `${entry.id} over runs` }, "trend") },
];

function factorColumn(name) {
  return {
    heading: FILTERS[name].label, sort: name, number: name === "users",
    value: name === "users" ? (entry) => entry.factors.users : FILTERS[name].ofCell,
    cell: (entry) => FILTERS[name].ofCell(entry),
  };
}

// Whether most runs have this metric, unlike one that only one kind of experiment measures.
function isCommon({ metric }) {
  return 2 * DATA.runs.filter((run) => run.cells.some((entry) => entry.values[metric])).length > DATA.runs.length;
}

const pageLink = (entry) => (entry.run.page ? element("a", { href: `${encodeURI(entry.run.page)}#cell-${entry.id}` }, day(entry.run)) : day(entry.run));

function warnings(entry) {
  const sized = entry.warnings.map(([kind, bias]) => `${kind} ≤ ${bias} %`);
  const notes = entry.notes.filter((kind) => !entry.warnings.some(([other]) => other === kind));
  return [...sized.map((text, n) => flag(text, entry.warnings[n][0], "flag warn")), ...notes.map((kind) => flag(kind, kind, "flag"))].flatMap((one) => [one, " "]);
}

const flag = (text, kind, name) => element("span", { class: name, title: DATA.kinds[kind] }, text);

function sorted(entries, order) {
  const column = COLUMNS.find((one) => one.sort && [one.sort, `-${one.sort}`].includes(order));
  if (!column) return entries;
  const down = order.startsWith("-") ? -1 : 1;
  const compare = (a, b) => (a === null || b === null ? (a === null) - (b === null) : down * (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true })));
  return [...entries].sort((one, two) => compare(column.value(one), column.value(two)));
}

function showCells(state) {
  const entries = sorted(cellsShown(state), state.sort || "-run");
  const shown = state.all ? entries : entries.slice(0, MOST_ROWS);
  const rest = entries.length > shown.length
    ? element("p", {}, `The first ${MOST_ROWS} of ${plural(entries.length, "row")}. `, element("a", { href: address({ all: "yes" }) }, "Show all"))
    : null;
  return ["Cells", `${plural(entries.length, "cell")} in ${plural(new Set(entries.map((entry) => entry.run)).size, "run")}`,
    element("p", { class: "soft" }, "Means over blocks with 95 % t intervals; below three blocks there is no interval. A warning gives an upper bound on the bias of the number."),
    rest, table("Cells of the runs shown", COLUMNS.filter(({ metric }) => metric === undefined || entries.some((entry) => entry.values[metric])), shown, { order: state.sort || "-run" })];
}
