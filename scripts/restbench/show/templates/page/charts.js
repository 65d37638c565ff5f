// What all charts share: the page's data and colours, and charts that follow size and colour scheme.
const data = JSON.parse(document.getElementById("data").textContent);
const scheme = matchMedia("(prefers-color-scheme: dark)");
const charts = new Map();

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const seriesColour = (n) => { const all = css("--series").split(" "); return all[n % all.length]; };
const stageColour = (n) => css("--stages").split(" ")[n];

const SYMBOLS = ["circle", "rect", "triangle", "diamond", "path://M0,0L10,0L5,9Z",
  "path://M3,0L7,0L7,3L10,3L10,7L7,7L7,10L3,10L3,7L0,7L0,3L3,3Z", "roundRect", "path://M6,0L7.5,4.2L11.9,4.2L8.4,6.9L9.7,11.2L6,8.6L2.3,11.2L3.6,6.9L0.1,4.2L4.5,4.2Z"];
const symbolOf = (n) => SYMBOLS[n % SYMBOLS.length];

function escaped(text) {
  const element = document.createElement("span");
  element.textContent = text;
  return element.innerHTML;
}

// Three significant digits, as the tables have them.
function readable(value) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  const decimals = Number.isInteger(value) ? 0 : size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toFixed(decimals);
}

// A tick's number: no more digits than it needs.
const plain = (value) => String(Number(value.toPrecision(6)));

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// The parts of an option that every chart has alike.
function frame(option) {
  const text = { color: css("--soft"), fontSize: 11, fontFamily: "system-ui, sans-serif" };
  const axis = (one) => ({
    nameLocation: "middle", nameTextStyle: text, ...one,
    nameGap: one.nameGap ?? 26,
    axisLabel: { ...text, hideOverlap: true, formatter: one.data ? null : plain, ...one.axisLabel },
    axisLine: { show: true, onZero: false, lineStyle: { color: css("--line") } },
    axisTick: { lineStyle: { color: css("--line") }, ...one.axisTick },
    minorSplitLine: { show: false },
    splitLine: { show: false, lineStyle: { color: css("--line"), width: 0.7 }, ...one.splitLine },
  });
  return {
    animation: false,
    textStyle: text,
    ...option,
    xAxis: axis(option.xAxis),
    yAxis: axis({ splitLine: { show: true, lineStyle: { color: css("--line"), width: 0.7 } }, ...option.yAxis }),
    grid: { left: 6, right: 14, top: 6, bottom: 2, outerBoundsMode: "same", ...option.grid },
    tooltip: {
      confine: true, className: "tip", backgroundColor: css("--paper"), borderColor: css("--line"),
      textStyle: { color: css("--ink"), fontSize: 12.5 }, ...option.tooltip,
    },
  };
}

// Draws `build()` into a place, again whenever the colour scheme changes; `redraw` after a change of state.
function mount(place, build) {
  const chart = echarts.init(place, null, { renderer: "svg" });
  const redraw = () => chart.setOption(frame(build(chart.getWidth())), { notMerge: true });
  redraw();
  new ResizeObserver(() => { chart.resize(); redraw(); }).observe(place);
  charts.set(place, redraw);
  return { chart, redraw };
}
scheme.addEventListener("change", () => charts.forEach((redraw) => redraw()));

// A button that is on or off; `changed` is told which.
function toggle(button, changed) {
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    changed(on);
  });
  return button;
}

// Follows a link into the page: what is folded around its target is opened first.
function reveal() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let outer = target; outer; outer = outer.parentElement) if (outer.tagName === "DETAILS") outer.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
// The same link pressed again changes no hash, but its target may have been closed meanwhile.
document.addEventListener("click", ({ target }) => { if (target.closest('a[href^="#"]')) setTimeout(reveal); });
