// A cell's details, drawn when they are opened: over time, its distribution, the machine under it.
const line = (name, points, colour, more = {}) =>
  ({ type: "line", name, data: points, showSymbol: points.length < 3, symbolSize: 5, color: colour, lineStyle: { width: 1.4 }, ...more });
const zipped = (xs, ys) => xs.map((x, n) => [x, ys[n]]);
const strength = (told, block) => (told.block === block ? { z: 5 } : { lineStyle: { width: 1, opacity: 0.3 }, itemStyle: { opacity: 0.3 } });
const colourOf = (told) => seriesColour(told.block - 1);
const seconds = { type: "value", name: "Seconds from the window's start" };
const byAxis = { trigger: "axis", valueFormatter: readable };
const ending = (name) => ({ name, nameLocation: "end", nameGap: 8, nameTextStyle: { align: "left" } });

function windowMarks(told, low, high) {
  const faint = { color: css("--soft"), opacity: 0.13 };
  const label = { color: css("--soft"), fontSize: 11, position: "insideBottom" };
  const areas = [[{ xAxis: low, name: "warm-up" }, { xAxis: 0 }]];
  if (high > told.window_s) areas.push([{ xAxis: told.window_s, name: "" }, { xAxis: high }]);
  const cut = told.cut_s === null ? [] : [{ xAxis: told.cut_s, label: { formatter: "MSER cut", position: "insideEndBottom", color: css("--bad"), fontSize: 11 } }];
  return {
    markArea: { silent: true, itemStyle: faint, label, data: low < 0 ? areas : areas.slice(1) },
    markLine: { silent: true, symbol: "none", lineStyle: { color: css("--bad"), type: "dashed" }, data: cut },
  };
}

function overTime(blocks, block) {
  const ends = blocks.flatMap((told) => [told.load.s[0], told.load.s.at(-1), told.window_s]);
  const [low, high] = [Math.floor(Math.min(0, ...ends)), Math.max(...ends)];
  return {
    xAxis: { ...seconds, min: low, max: high }, yAxis: { type: "value", min: 0, ...ending("Correct responses /s (red: errors)") }, tooltip: byAxis,
    series: blocks.flatMap((told) => [
      line(`block ${told.block}`, zipped(told.load.s, told.load.per_s), colourOf(told),
        { ...strength(told, block), ...(told.block === block ? windowMarks(told, low, high) : {}) }),
      ...(told.load.errors.length ? [line(`errors ${told.block}`, zipped(told.load.s, told.load.errors), css("--bad"), strength(told, block))] : []),
    ]),
  };
}

// A log scale has no place for the edge below 0 ms of answers that JMeter counts as 0 ms.
const onScale = (edge) => Math.max(edge, 0.25);

function histogram(blocks, block) {
  const steps = ({ histogram: [edges, counts] }) => {
    const all = counts.reduce((sum, count) => sum + count, 0) || 1;
    return [...counts.map((count, n) => [onScale(edges[n]), 100 * count / all]), [edges.at(-1), 0]];
  };
  const edges = blocks.flatMap((told) => told.histogram[0]);
  const [low, high] = [onScale(Math.min(...edges)), Math.max(...edges)];
  const ticks = logTicks(low, high);
  if (!ticks.length) ticks.push(low, high);
  const few = ticks.length > 7 ? ticks.filter((tick) => String(tick).replace(/[0.]/g, "") === "1") : ticks;
  return {
    xAxis: { type: "log", name: "Response time, ms (log)", min: low, max: high, axisLabel: { customValues: few }, axisTick: { customValues: few } },
    yAxis: { type: "value", min: 0, ...ending("Percent of the correct responses") },
    tooltip: { ...byAxis, axisPointer: { label: { formatter: ({ value }) => `from ${readable(value)} ms` } } },
    series: blocks.map((told) => line(`block ${told.block}`, steps(told), colourOf(told),
      { step: "end", showSymbol: false, areaStyle: told.block === block ? { opacity: 0.15 } : undefined, ...strength(told, block) })),
  };
}

function percentiles(blocks, block) {
  const all = [...new Set(blocks.flatMap((told) => told.percentiles[0]))].sort((a, b) => a - b);
  return {
    xAxis: { type: "category", name: "Percentile", data: all.map((percent) => (percent >= 100 ? "max" : `p${percent}`)) },
    yAxis: { type: "value", min: 0, ...ending("Response time, ms") }, tooltip: byAxis,
    series: blocks.map((told) => line(`block ${told.block}`,
      all.map((percent) => told.percentiles[1][told.percentiles[0].indexOf(percent)] ?? "-"), colourOf(told),
      { showSymbol: true, ...strength(told, block) })),
  };
}

function cores(blocks, block) {
  const { cores: held, service } = blocks.find((told) => told.block === block);
  return {
    grid: { top: 26 }, legend: { top: 0, icon: "roundRect", left: 0, textStyle: { color: css("--ink"), fontSize: 11 }, inactiveColor: css("--soft"), itemWidth: 14, itemHeight: 6 },
    xAxis: { ...seconds, min: ({ min }) => Math.floor(min), max: ({ max }) => Math.ceil(max) }, yAxis: { type: "value", min: 0, ...ending("Busy, percent of one core") }, tooltip: byAxis,
    series: [...held.pct.map((pct, n) => line(`core ${n}`, zipped(held.s, pct), seriesColour(n))),
      ...(service.cpu_pct.length ? [line("service", zipped(service.s, service.cpu_pct), css("--ink"), { lineStyle: { width: 1.2, type: "dashed" } })] : [])],
  };
}

function memory(blocks, block) {
  return {
    xAxis: { ...seconds, min: ({ min }) => Math.floor(min), max: ({ max }) => Math.ceil(max) }, yAxis: { type: "value", min: 0, ...ending("Resident memory, MiB") }, tooltip: byAxis,
    series: blocks.map((told) => line(`block ${told.block}`, zipped(told.service.s, told.service.mib), colourOf(told), strength(told, block))),
  };
}

// A chart's name in the page → what draws it, and whether a measurement has anything for it.
const CELL_CHARTS = {
  load: [overTime, (told) => told.load.s.length], histogram: [histogram, (told) => told.histogram[1].length],
  percentiles: [percentiles, (told) => told.percentiles[0].length], cores: [cores, (told) => told.cores.s.length],
  memory: [memory, (told) => told.service.mib.length],
};

// What MSER says of a measurement's warm-up, in words.
function steadiness({ block, steady, cut_s: cut, window_s: length }) {
  const told = `Block ${block}, a window of ${readable(length)} s: `;
  if (steady === null) return `${told}too little data to judge whether it was steady.`;
  const where = `${readable(Math.abs(cut))} s ${cut > 0 ? "after" : "before"} the window opened`;
  return told + (steady ? `steady from ${where}.` : `not steady: no end of its warm-up was found up to ${where}.`);
}

function drawCell(details) {
  const blocks = data.timelines[details.dataset.cell];
  const place = details.querySelector(".charts");
  if (!blocks || place.childElementCount) return;
  place.append(document.getElementById("cell-charts").content.cloneNode(true));
  const choice = place.querySelector("select");
  choice.append(...blocks.map((told) => element("option", { value: told.block }, String(told.block))));
  choice.closest("label").hidden = blocks.length === 1;
  const redraws = [];
  for (const figure of place.querySelectorAll("[data-chart]")) {
    const [option, has] = CELL_CHARTS[figure.dataset.chart];
    const known = blocks.filter(has);
    if (!known.length) { figure.remove(); continue; }
    const chosen = () => (known.find((told) => told.block === Number(choice.value)) ?? known[0]).block;
    const plot = figure.querySelector(".plot");
    plot.setAttribute("aria-label", `${figure.querySelector("h4").textContent} of ${data.cells[details.dataset.cell].name}`);
    redraws.push(mount(plot, () => option(known, chosen())).redraw);
  }
  const state = place.querySelector(".state");
  const tell = () => { state.textContent = steadiness(blocks.find((told) => told.block === Number(choice.value))); };
  tell();
  choice.addEventListener("change", tell);
  choice.addEventListener("change", () => redraws.forEach((redraw) => redraw()));
}

for (const details of document.querySelectorAll("details.cell"))
  details.addEventListener("toggle", () => { if (details.open) drawCell(details); });
reveal();
