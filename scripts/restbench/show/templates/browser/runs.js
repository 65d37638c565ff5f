// The list of runs, the newest first, each with its answer.
function showRuns(state) {
  const runs = runsShown(state).reverse();
  return ["Runs", plural(runs.length, "run"), ...runs.map((run) => runCard(run, state))];
}

function runCard(run, state) {
  const name = run.page ? element("a", { href: encodeURI(run.page) }, run.name) : run.name;
  const before = predecessor(run);
  const links = [element("a", { href: address({ view: "cells", filters: { ...state.filters, run: [run.name] } }) }, "Its cells")];
  for (const [copy, page] of run.copies) links.push(page ? element("a", { href: encodeURI(page) }, `Kept as ${copy}`) : `Kept as ${copy}`);
  if (before) links.push(element("a", { href: address({ view: "compare", first: before.name, second: run.name }) }, `Compare with ${before.name}`));
  return element("article", { class: "run" },
    element("h3", {}, name),
    element("p", { class: "soft" }, [
      day(run), `${run.experiment}, ${run.profile}`, `${run.minutes.toFixed(run.minutes < 10 ? 1 : 0)} minutes`, `commit ${commitOf(run)}`, ...Object.entries(run.builds).map(([name, code]) => `build ${name} ${commitOf(code)}`), DATA.machines[run.machine],
      run.status === "complete" ? null : run.status].filter(Boolean).join(" · ")),
    element("p", { class: "sentence" }, run.sentence),
    element("p", { class: "soft" }, [tally(run), warned(run)].filter(Boolean).join(" · ")),
    element("p", { class: "links" }, links.flatMap((link) => [link, " "])));
}

// The run before this one on the same machine that did the same experiment and has a cell of this one.
function predecessor(run) {
  const cells = new Set(run.cells.map((entry) => entry.id));
  return DATA.runs.slice(0, DATA.runs.indexOf(run)).reverse().find((other) =>
    other.machine === run.machine && other.experiment === run.experiment && other.cells.some((entry) => cells.has(entry.id)));
}

function tally(run) {
  const counts = new Map();
  for (const verdict of run.claims) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  return counts.size ? `Claims: ${[...counts].map(([verdict, count]) => `${count} ${verdict.replaceAll("-", " ")}`).join(", ")}` : "";
}

function warned(run) {
  const count = run.cells.filter((cell) => cell.warnings.length).length;
  return `${count ? count : "none"} of ${plural(run.cells.length, "cell")} ${count === 1 ? "has" : "have"} warnings`;
}
