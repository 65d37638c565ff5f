// Where the time of a request goes: a stacked bar a cell, the stages in the order of a request.
const STAGE_NAMES = ["queue", "parse", "compute", "serialize", "network"];

function stageTip(bar) {
  const total = bar.ms.reduce((sum, ms) => sum + ms, 0);
  const lines = STAGE_NAMES.map((name, n) => `${name} ${readable(bar.ms[n])} ms (${readable(100 * bar.ms[n] / total)} %)`);
  return `<b>${escaped(data.cells[bar.cell].name)}</b><br>${lines.join("<br>")}`;
}

function stageOption(bars, share, width) {
  const total = (bar) => bar.ms.reduce((sum, ms) => sum + ms, 0) || 1;
  return {
    grid: { top: width < 420 ? 48 : 30, right: 24 },
    legend: { top: 0, left: 0, itemWidth: 12, itemHeight: 12, selectedMode: true, inactiveColor: css("--soft"),
      textStyle: { color: css("--ink"), fontSize: 12 } },
    xAxis: { type: "value", name: share ? "Percent of the mean response time" : "Mean ms a request", max: share ? 100 : null,
      splitLine: { show: true } },
    yAxis: { type: "category", inverse: true, data: bars.map((bar) => bar.label + (bar.doubtful ? " (warnings)" : "")),
      splitLine: { show: false }, axisTick: { show: false },
      axisLabel: { width: Math.min(230, width * 0.36), overflow: "break", color: css("--ink"), hideOverlap: false, interval: 0 } },
    tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, formatter: ([{ dataIndex }]) => stageTip(bars[dataIndex]) },
    series: STAGE_NAMES.map((name, n) => ({
      type: "bar", name, stack: "time", barMaxWidth: 20, color: stageColour(n),
      data: bars.map((bar) => (share ? 100 * bar.ms[n] / total(bar) : bar.ms[n])),
    })),
  };
}

const stagesPlace = document.getElementById("stages-figure");
if (stagesPlace) {
  const [plot, choice, shares] = [".plot", "select", "button"].map((what) => stagesPlace.querySelector(what));
  const groups = [...new Set(data.stages.map((bar) => bar.group))];
  choice.append(...groups.map((group) => element("option", {}, group)));
  const chosen = () => data.stages.filter((bar) => bar.group === choice.value);
  const fit = () => { plot.style.height = `${96 + 32 * chosen().length}px`; };
  let share = false;
  fit();
  const { chart, redraw } = mount(plot, (width) => stageOption(chosen(), share, width));
  chart.on("click", ({ dataIndex }) => { location.hash = `cell-${chosen()[dataIndex].cell}`; });
  choice.addEventListener("change", () => { fit(); redraw(); });
  toggle(shares, (on) => { share = on; redraw(); });
}
