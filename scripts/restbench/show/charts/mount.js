// Draws a chart of `theme.spec` into an element: as wide as it is, in its colour scheme, with a button for each series.
const scheme = matchMedia("(prefers-color-scheme: dark)");
const PATHS = {
  circle: "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z", square: "M-.9,-.9H.9V.9H-.9Z", diamond: "M0,-1.1L.9,0L0,1.1L-.9,0Z",
  cross: "M-.35,-1H.35V-.35H1V.35H.35V1H-.35V.35H-1V-.35H-.35Z", "triangle-up": "M0,-1L1,.9H-1Z", "triangle-down": "M0,1L1,-.9H-1Z",
  "triangle-right": "M1,0L-.9,1V-1Z", "triangle-left": "M-1,0L.9,1V-1Z",
};

const recoloured = (value) => JSON.parse(JSON.stringify(value).replace(/#[0-9a-f]{6}/g, (colour) => (scheme.matches && DARK[colour]) || colour));

// Paper is light whatever the screen is, and nothing is drawn again for it in time.
const onPaper = (of) => Object.entries(DARK).map(([light, dark]) => `.drawn [${of}="${dark}"]{${of}:${light}}`).join("");
document.head.append(Object.assign(document.createElement("style"), { textContent: `@media print{${onPaper("fill")}${onPaper("stroke")}}` }));

function button(text, isOn, changed, icon = "") {
  const made = document.createElement("button");
  made.type = "button";
  made.innerHTML = icon;
  made.append(text);
  made.setAttribute("aria-pressed", String(isOn));
  made.addEventListener("click", () => {
    const on = made.getAttribute("aria-pressed") !== "true";
    made.setAttribute("aria-pressed", String(on));
    changed(on);
  });
  return made;
}

function seriesButton([name, colour, shape], hidden, draw) {
  const path = (fill) => `<path d="${PATHS[shape] ?? shape}" fill="${fill}"/>`;
  const icon = `<svg width="12" height="12" viewBox="-1.2 -1.2 2.4 2.4" aria-hidden="true">${path(recoloured(colour))}</svg> `;
  const made = button(name, true, (on) => { hidden[on ? "delete" : "add"](name); draw(); }, icon);
  made.className = "series";
  made.title = `Hide or show ${name}`;
  scheme.addEventListener("change", () => made.querySelector("path").setAttribute("fill", recoloured(colour)));
  return made;
}

// Gives every vertical axis within a panel this scale and these ticks; buttons stand in the place of its legend.
function adapt(view, y) {
  const { encoding = {}, layer = [] } = view;
  for (const channel of Object.values(encoding)) if (channel.field === "series") channel.legend = null;
  if (y && encoding.y?.scale) encoding.y.scale = { ...encoding.y.scale, ...y.scale };
  if (y && encoding.y?.axis) encoding.y.axis = { ...encoding.y.axis, values: undefined, ...y.axis };
  for (const one of layer) adapt(one, y);
}

function sized(spec, width_px, state, axes_px) {
  const { panel_px, scales } = spec.usermeta;
  const made = recoloured({ ...spec, config: CONFIG });
  made.columns = Math.max(1, Math.min(made.columns, made.concat.length, Math.floor(width_px / panel_px)));
  made.concat.forEach((panel, n) => {
    panel.width = Math.max(60, Math.floor((width_px - axes_px) / made.columns));
    adapt(panel, scales[n]?.[state.isLog ? "log" : "linear"]);
  });
  for (const param of made.params ?? []) if (param.name === "hidden") param.value = [...state.hidden];
  return made;
}

// The chart of `spec` in `place`; its marks lead to `#cell-ID`. Settled once it is drawn; drawn again whenever width or scheme change.
window.drawChart = (place, spec) => {
  const { series, scales, is_log: isLog } = spec.usermeta;
  const state = { isLog, hidden: new Set(), width_px: 0 };
  const controls = document.createElement("div");
  const plot = document.createElement("div");
  controls.className = "controls";
  plot.className = "plot";
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", spec.description);
  place.replaceChildren(controls, plot);
  let shown = null;
  let last = Promise.resolve();

  async function embed(axes_px) {
    shown?.finalize();
    shown = await vegaEmbed(plot, sized(spec, state.width_px, state, axes_px), {
      mode: "vega-lite", actions: false, renderer: "svg", ast: true, tooltip: { theme: scheme.matches ? "dark" : "light" },
    });
    shown.view.addEventListener("click", (_, item) => { if (item?.datum?.cell) location.hash = `cell-${item.datum.cell}`; });
    const svg = plot.querySelector("svg");
    svg.setAttribute("aria-hidden", "true");  // the plot is the image, with a text of its own
    return svg.width.baseVal.value;
  }
  // What axes and gaps take is known once they are drawn.
  const draw = () => last = last.then(async () => {
    if (!state.width_px) return;
    let axes_px = 0;
    for (let pass = 0; pass < 3; pass += 1) {
      const excess_px = await embed(axes_px) - state.width_px;
      if (excess_px <= 0) break;
      axes_px += excess_px;
    }
    place.dataset.drawn = String(state.width_px);
  });
  if (series.length > 1) controls.append(...series.map((one) => seriesButton(one, state.hidden, draw)));
  if (scales.length) {
    const log = button("Log scale", isLog, (on) => { state.isLog = on; draw(); });
    log.className = "log push";
    controls.append(log);
  }
  scheme.addEventListener("change", draw);
  return new Promise((settle) => {
    const fit = () => {
      const width_px = Math.floor(place.clientWidth);
      if (!width_px || width_px === state.width_px) return;
      state.width_px = width_px;
      draw().then(settle);
    };
    fit();  // at once: a page that is printed has no later frame
    new ResizeObserver(fit).observe(place);
  });
};
