// One cell over runs, in order of time: a chart for each machine, experiment and framework, as no line joins two of these.
function showTrend(state) {
  const metric = chosenMetric(state);
  const shown = cellsShown(state);
  const keys = [...new Set(shown.map((entry) => entry.key))];
  const steps = stepsAmong(shown, state.metric).sort((a, b) => Math.abs(Math.log(b.ratio[0])) - Math.abs(Math.log(a.ratio[0])));
  const key = keys.includes(state.cell) ? state.cell : steps.length ? DATA.cells[steps[0].cell].key : keys[0];
  if (!key) return ["Trend", "no cell", element("p", {}, "No cell passes the filters.")];
  const courses = coursesOf(shown.filter((entry) => entry.key === key && entry.values[metric]));
  const none = courses.length ? [] : [element("p", {}, `No selected run has ${DATA.metrics[metric].heading} for this cell: choose another metric.`)];
  const controls = element("div", { class: "controls" }, chooser("Cell", "cell", keys.map((one) => [one, one]), key), metricChooser(state));
  const status = `${steps.length ? plural(steps.length, "step") : "no step"} in ${plural(keys.length, "cell")}`;
  return ["Trend", status, controls, ...none, ...courses.map((course) => courseParts(course, metric)), ...stepList(steps, state)];
}

// The steps between two of these entries.
function stepsAmong(entries, metric) {
  const place = (run, cell, framework) => `${DATA.runs[run].name} ${cell} ${framework}`;
  const known = new Set(entries.map((entry) => place(DATA.runs.indexOf(entry.run), entry.number, entry.framework)));
  return DATA.steps.filter((step) => step.metric === metric && [step.before, step.after].every((run) => known.has(place(run, step.cell, step.framework))));
}

// [{ name, entries, steps }] with the entries in order of time.
function coursesOf(entries) {
  const courses = new Map();
  for (const entry of entries) {
    const name = [DATA.machines[entry.run.machine], entry.run.experiment, entry.framework].join(", ");
    if (!courses.has(name)) courses.set(name, { name, entries: [] });
    courses.get(name).entries.push(entry);
  }
  return [...courses.values()];
}

function courseParts(course, metric) {
  const steps = stepsAmong(course.entries, DATA.metrics[metric].name);
  const heading = DATA.metrics[metric].heading;
  const place = element("div", { class: "trend" });
  const lines = steps.map((step) => element("li", {}, stepText(step, heading)));
  drawWhenAttached(place, trendSpec(course, steps, metric));
  return element("div", { class: "course" }, element("h3", {}, course.name),
    lines.length ? element("ul", { class: "steps" }, lines) : element("p", { class: "soft" }, course.entries.length < 4 ? `${plural(course.entries.length, "run")}: a step needs at least four.` : "No step was found."),
    place, table(`${heading} of ${course.entries[0].id}`, [
      { heading: "Run", cell: pageLink }, { heading: "Commit", cell: ({ run, factors }) => commitOf(codeOf(run, factors)) }, { heading: "Profile", cell: ({ run }) => run.profile },
      { heading, cell: (entry) => estimate(entry.values[metric]), number: true },
      { heading: "Blocks", cell: (entry) => String(entry.values[metric][3].length), number: true }, { heading: "Warnings", prose: true, cell: warnings },
    ], [...course.entries].reverse(), { label: `${heading} on ${course.name}` }));
}

// What changed, by how much, and between which commits.
function stepText(step, heading) {
  const [before, after] = [DATA.runs[step.before], DATA.runs[step.after]];
  const [estimated, low, high] = step.ratio;
  const codes = [before, after].map((run) => codeOf(run, DATA.cells[step.cell].factors));
  const [one, two] = codes.map(commitOf);
  // Without a commit, or with changes to it, nobody knows what was run.
  const isKnown = codes.every(({ commit, dirty }) => commit !== "unknown" && dirty === false);
  const same = isKnown ? "the code is the same, so something else has changed" : "the code may differ";
  const commits = one === two ? `between two runs of commit ${two}: ${same}` : `between commits ${one} and ${two}`;
  return [element("b", {}, `${heading} ${percent(estimated)}`), ` [${percent(low)}, ${percent(high)}] ${commits} (`,
    element("a", { href: address({ view: "compare", first: before.name, second: after.name }) }, `${before.name} and ${after.name}`), ")"];
}

function stepList(steps, state) {
  if (!steps.length) return [];
  const metric = DATA.metrics[chosenMetric(state)].heading;
  return [element("h3", {}, "Steps in all cells that pass the filters, the largest first"),
    element("ol", { class: "steps" }, steps.map((step) => element("li", {}, element("a", { href: address({ cell: DATA.cells[step.cell].key }) }, DATA.cells[step.cell].id), ": ", stepText(step, metric)))),
    element("p", { class: "soft" }, "A step is the point where the runs before and after it differ most, by Student's t over the runs of one machine and experiment. At most 5 % of the cells reported with a step have none (Benjamini and Hochberg). Runs with fewer than three blocks are shown but not tested.")];
}

// The definition that was written without data (`show.browser.document`), with those of this course.
function trendSpec({ name, entries }, steps, metric) {
  const at = steps.map((step) => entries.findIndex(({ run }) => run === DATA.runs[step.after]));
  const begins = [0, ...at].sort((a, b) => a - b);
  const segmentOf = (n) => begins.filter((begin) => begin <= n).length - 1;
  const levelOf = (segment) => {
    const counted = entries.filter(({ values }, n) => segmentOf(n) === segment && values[metric][3].length >= 3);
    return Math.exp(mean(counted.map(({ values }) => Math.log(values[metric][0]))));
  };
  const records = entries.map((entry, n) => {
    const [value, low, high] = entry.values[metric];
    const step = steps[at.indexOf(n)];
    return {
      run: entry.run.name, label: labelOf(entry, entries), value, low, high, step: step ? percent(step.ratio[0]) : "",
      level: steps.length ? levelOf(segmentOf(n)) : null, segment: segmentOf(n),
    };
  });
  const heading = DATA.metrics[metric].heading;
  const spec = JSON.parse(JSON.stringify(DATA.trend_chart), (_, value) => (value === "(metric)" ? heading : value));
  spec.data = { name: "trend", values: records };
  // A layer without a single value has no extent, of which Vega warns.
  const [panel] = spec.concat;
  panel.layer = panel.layer.filter(({ encoding: { y } }) => !y.field || records.some((record) => record[y.field] !== null));
  spec.description = `${heading} of ${entries[0].id} over ${plural(entries.length, "run")} on ${name}. The table below has every number.`;
  return spec;
}

// Commit and day; with the time where one commit has two runs of a day.
function labelOf(entry, entries) {
  const short = ({ run, factors }) => `${codeOf(run, factors).commit.slice(0, 7)} ${run.started.slice(5, 10)}`;
  const own = short(entry);
  return entries.filter((one) => short(one) === own).length > 1 ? `${own} ${entry.run.started.slice(11, 16)}` : own;
}

// A chart takes the width of its place, which it has once it stands in the page.
function drawWhenAttached(place, spec) {
  requestAnimationFrame(() => { if (place.isConnected) drawChart(place, spec); });
}
