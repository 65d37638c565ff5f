// The study's figures: a chart a panel, one legend and one scale for all of them.
function markerIcon(n, colour) {
  const shapes = ['<circle cx="6" cy="6" r="4"/>', '<path d="M2 2h8v8h-8z"/>', '<path d="M6 1.5l5 9h-10z"/>',
    '<path d="M6 1l5 5-5 5-5-5z"/>', '<path d="M1 2h10l-5 9z"/>', '<path d="M4 1h4v3h3v4h-3v3h-4v-3h-3v-4h3z"/>',
    '<rect x="2" y="2" width="8" height="8" rx="3"/>', '<path d="M6 0l1.5 4.2h4.4l-3.5 2.7 1.3 4.3L6 8.6l-3.7 2.6 1.3-4.3L.1 4.2h4.4z"/>'];
  const icon = element("span");
  icon.innerHTML = `<svg width="12" height="12" fill="${colour}" aria-hidden="true">${shapes[n % shapes.length]}</svg>`;
  return icon.firstChild;
}

function pointTip(line, point, metric) {
  const [, y, interval, , id] = point;
  const cell = data.cells[id];
  const flags = cell.flags.map(([flag, doubt]) => `<span class="flag${doubt ? " doubt" : ""}">${escaped(flag)}</span>`);
  const sure = interval ? `[${interval.map(readable).join(", ")}] (95 %, ${cell.blocks} blocks)` : "one block: no interval";
  return `<b>${escaped(cell.name)}</b><br>${escaped(metric)} <b>${readable(y)}</b> ${sure}<br>${flags.join(" ")}`;
}

// The end of an axis from 0 that holds a value with some air: 1, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten.
function above(value) {
  const power = 10 ** Math.floor(Math.log10(value * 1.05));
  return [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value * 1.05) * power;
}

// Ticks at 1, 2 and 5 times the powers of ten that lie between two values.
function logTicks(low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1)
    for (const step of [1, 2, 5]) ticks.push(step * 10 ** power);
  return ticks.filter((tick) => tick >= low && tick <= high);
}

function scaleOf(figure, metric, log) {
  const points = figure.panels.filter((panel) => panel.metric === metric)
    .flatMap((panel) => panel.lines).flatMap((line) => line.points).filter(([, y]) => y !== null);
  const drawn = points.flatMap(([, y, interval]) => [y, ...(interval ?? [])]);
  const [high, lows] = [Math.max(0, ...drawn), drawn.filter((value) => value > 0)];
  if (!log || !lows.length) return { type: "value", min: 0, max: above(high || 1) };
  const [low, top] = [Math.min(...lows) / 1.4, high * 1.4];
  const ticks = logTicks(low, top);
  return { type: "log", min: low, max: top, axisLabel: { customValues: ticks }, axisTick: { customValues: ticks } };
}

function intervalBars(line, colour, floor) {
  return {
    type: "custom", name: line.label, silent: true, clip: true, z: 3, tooltip: { show: false },
    data: line.points.filter(([, y, interval]) => y !== null && interval)
      .map(([x, , [low, high]]) => [x, Math.max(low, floor), high]),
    renderItem: (_, api) => {
      const [low, high] = [api.coord([api.value(0), api.value(1)]), api.coord([api.value(0), api.value(2)])];
      const bar = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: colour, lineWidth: 1.3 } });
      return { type: "group", children: [bar(low[0], low[1], high[0], high[1]),
        ...[low, high].map(([x, y]) => bar(x - 4, y, x + 4, y))] };
    },
  };
}

function lineSeries(line, colour, connected) {
  return {
    type: "line", name: line.label, symbol: symbolOf(line.colour), symbolSize: 8, color: colour, z: 4,
    lineStyle: { width: 1.6, color: colour, opacity: connected ? 1 : 0 },
    data: line.points.map((point) => ({
      value: [point[0], point[1] ?? "-"], point,
      itemStyle: { color: point[3] ? css("--paper") : colour, borderColor: colour, borderWidth: 1.6 },
    })),
  };
}

// The ends and ticks of the x axis: numbers, or names at 1, 2, ...
function acrossOf({ x_ticks: ticks, x_names: names }) {
  const at = { axisLabel: { customValues: ticks }, axisTick: { customValues: ticks } };
  if (!names.length) return { ...at, min: 0, max: Math.max(...ticks) * 1.06 };
  const named = { customValues: ticks, formatter: (n) => names[n - 1], rotate: 30, hideOverlap: false };
  return { ...at, axisLabel: named, min: 0.4, max: names.length + 0.6, nameGap: 60 };
}

function panelOption(figure, panel, state) {
  const scale = scaleOf(figure, panel.metric, state.log);
  const lines = panel.lines.filter((line) => !state.hidden.has(line.label));
  return {
    grid: { top: panel.title ? 26 : 6 },
    title: { text: panel.title, left: 0, top: 0, textStyle: { fontSize: 12, color: css("--ink") } },
    xAxis: { type: "value", name: figure.x_label, ...acrossOf(figure) },
    yAxis: { ...scale, name: panel.metric + (state.log ? " (log)" : ""), nameLocation: "end", nameGap: 8,
      nameTextStyle: { align: "left", color: css("--soft"), fontSize: 11 } },
    tooltip: { trigger: "item", formatter: ({ data: held, seriesName }) => held.point && pointTip(seriesName, held.point, panel.metric) },
    series: lines.flatMap((line) => [intervalBars(line, seriesColour(line.colour), state.log ? scale.min : 0),
      lineSeries(line, seriesColour(line.colour), !figure.x_names.length)]),
  };
}

function legend(figure, state, redraw) {
  const lines = new Map(figure.panels.flatMap((panel) => panel.lines).map((line) => [line.label, line.colour]));
  return [...lines].map(([label, colour]) => {
    const button = element("button", { type: "button", class: "series", "aria-pressed": "true", title: `Hide or show ${label}` },
      markerIcon(colour, seriesColour(colour)), label);
    scheme.addEventListener("change", () => button.firstChild.setAttribute("fill", seriesColour(colour)));
    return toggle(button, (on) => { state.hidden[on ? "delete" : "add"](label); redraw(); });
  });
}

for (const place of document.querySelectorAll("[data-figure]")) {
  const figure = data.figures[place.dataset.figure];
  const state = { log: figure.log, hidden: new Set() };
  const mounted = figure.panels.map((panel) => {
    const plot = element("div", { class: "plot", role: "img",
      "aria-label": `${place.querySelector("h3").textContent} ${panel.title} ${panel.metric}; its values stand in the test matrix` });
    place.querySelector(".panels").append(plot);
    const one = mount(plot, () => panelOption(figure, panel, state));
    one.chart.on("click", ({ data: held }) => { if (held?.point) location.hash = `cell-${held.point[4]}`; });
    return one;
  });
  const redraw = () => mounted.forEach((one) => one.redraw());
  const log = element("button", { type: "button", class: "log push", "aria-pressed": String(state.log) }, "Log scale");
  place.querySelector(".controls").append(...legend(figure, state, redraw), toggle(log, (on) => { state.log = on; redraw(); }));
}
