// The only script of the pages: charts that can be zoomed (uPlot). Everything else works without it.
"use strict";
(function () {
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const day = (date) => `${MONTHS[date.getMonth()]} ${date.getDate()}`;
  const two = (number) => String(number).padStart(2, "0");
  const hour = (date) => `${two(date.getHours())}:${two(date.getMinutes())}`;

  function draw(place) {
    const data = JSON.parse(place.dataset.points);
    const names = place.dataset.names.split(",");
    const zoned = (seconds) => {
      const date = new Date(seconds * 1000);
      return place.dataset.zone === "utc" ? uPlot.tzDate(date, "Etc/UTC") : date;
    };
    const named = (u, value) => (value == null ? "–" : value);
    place.replaceChildren();
    if (!data[0].length) return;
    const axis = { stroke: color("--soft"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false } };
    const chart = new uPlot(
      {
        width: place.clientWidth - 34,
        height: 220,
        cursor: { drag: { x: true, y: false } },
        scales: { y: { range: (u, low, high) => [0, Math.max(1, high)] } },
        tzDate: zoned,
        axes: [
          {
            ...axis,
            values: (u, times, index, space, step) =>
              times.map(zoned).map((date) => (step >= 86400 || date.getHours() === 0 ? day(date) : hour(date))),
          },
          { ...axis, size: 40, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] },
        ],
        series: [
          {
            label: place.dataset.zone === "utc" ? "hour (UTC)" : "hour (this browser's time)",
            value: (u, value) => (value == null ? "–" : `${day(zoned(value))}, ${hour(zoned(value))}`),
          },
          { label: names[1], value: named, stroke: color("--s1"), width: 1.5, points: { show: false } },
          { label: names[0], value: named, stroke: color("--s0"), width: 2, fill: color("--h1"), points: { show: false } },
        ],
      },
      [data[0], data[2], data[1]],
      place
    );
    const whole = [data[0][0], data[0][data[0].length - 1]];
    const move = (by, shift) => {
      const low = chart.scales.x.min, high = chart.scales.x.max, middle = (low + high) / 2 + shift * (high - low);
      const half = Math.min((whole[1] - whole[0]) / 2, Math.max(7200, ((high - low) / 2) * by));
      const start = Math.max(whole[0], Math.min(middle - half, whole[1] - 2 * half));
      chart.setScale("x", { min: start, max: start + 2 * half });
    };
    const buttons = document.createElement("div");
    buttons.className = "buttons";
    const all = [["Zoom in", 0.5, 0], ["Zoom out", 2, 0], ["Earlier", 1, -0.5], ["Later", 1, 0.5], ["Whole period", 1e9, 0]];
    for (const [name, by, shift] of all) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", () => move(by, shift));
      buttons.append(button);
    }
    place.append(buttons);
  }

  const places = document.querySelectorAll(".zoom");
  const redraw = () => places.forEach(draw);
  let pending = 0;
  addEventListener("resize", () => { clearTimeout(pending); pending = setTimeout(redraw, 150); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  redraw();
})();
