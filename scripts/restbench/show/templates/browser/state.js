// The selection: it stands in the address and nowhere else, so that a reload, a copied link and the back button show it again.
// A filter that is empty lets everything pass; each of these can have several values.
const FILTERS = {
  run: { label: "Run", ofRun: (run) => run.name },
  experiment: { label: "Experiment", ofRun: (run) => run.experiment },
  machine: { label: "Machine", ofRun: (run) => DATA.machines[run.machine] },
  commit: { label: "Commit", ofCell: ({ run, factors }) => commitOf(codeOf(run, factors)) },
  service: { label: "Service", ofCell: (cell) => cell.factors.service },
  framework: { label: "Framework", ofCell: (cell) => cell.framework },
  strategy: { label: "Strategy", ofCell: (cell) => cell.factors.strategy },
  size: { label: "Size", ofCell: (cell) => cell.size },
  users: { label: "Users", ofCell: (cell) => String(cell.factors.users) },
};
const SINGLE = ["view", "metric", "sort", "cell", "first", "second", "all"];

// Each cell of a run gets the data that all runs share about this cell, its number and its run.
for (const run of DATA.runs) run.cells = run.cells.map((entry) => ({ ...entry, ...DATA.cells[entry.cell], number: entry.cell, run }));
const ENTRIES = DATA.runs.flatMap((run) => run.cells);

// Further factors are filters where there is more than one level of them.
const FACTORS = [...new Set(DATA.cells.flatMap((cell) => Object.keys(cell.factors)))]
  .filter((name) => !FILTERS[name] && name !== "complexity" && new Set(DATA.cells.map((cell) => cell.factors[name])).size > 1);
for (const name of FACTORS) FILTERS[name] = { label: name[0].toUpperCase() + name.slice(1).replaceAll("_", " "), ofCell: (cell) => String(cell.factors[name] ?? "") };

function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  const state = Object.fromEntries(SINGLE.map((name) => [name, given.get(name) ?? ""]));
  state.filters = Object.fromEntries(Object.keys(FILTERS).map((name) => [name, given.getAll(name)]));
  if (!VIEWS[state.view]) state.view = "runs";
  if (!DATA.metrics.some((metric) => metric.name === state.metric)) state.metric = DATA.metrics[0].name;
  return state;
}

// The address of the present selection with these changes; a filter is given as a list, `filters: {}` takes all away.
function address(changes) {
  const state = { ...read(), ...changes };
  const filters = changes.filters ?? { ...state.filters, ...changes };
  const parameters = new URLSearchParams();
  if (state.view !== "runs") parameters.set("view", state.view);
  for (const name of Object.keys(FILTERS)) for (const value of filters[name] ?? []) parameters.append(name, value);
  for (const name of SINGLE.slice(1)) {
    const isDefault = name === "metric" && state.metric === DATA.metrics[0].name;
    if (state[name] && !isDefault) parameters.set(name, state[name]);
  }
  return `#${parameters}`;
}

function go(changes) { location.hash = address(changes); }

const chosenMetric = (state) => DATA.metrics.findIndex((metric) => metric.name === state.metric);

function passes(state, kind, thing) {
  return Object.entries(FILTERS).every(([name, filter]) => !filter[kind] || !state.filters[name].length || state.filters[name].includes(filter[kind](thing)));
}

// The runs that have a cell which passes, and their cells that do.
const runsShown = (state) => DATA.runs.filter((run) => passes(state, "ofRun", run) && (run.cells.some((cell) => passes(state, "ofCell", cell)) || !run.cells.length));
const cellsShown = (state) => ENTRIES.filter((entry) => passes(state, "ofRun", entry.run) && passes(state, "ofCell", entry));
