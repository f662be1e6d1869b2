// Numbers as people read them.

export function count(number) {
  return Math.round(number).toLocaleString("en");
}

export function rate(perSecond) {
  if (!Number.isFinite(perSecond)) return "–";
  return perSecond >= 100 ? count(perSecond) : perSecond.toFixed(1);
}

export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 0.0995) return `${(seconds * 1000).toFixed(seconds < 0.00995 ? 1 : 0)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(2)} s`;
  if (seconds < 99.5) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return `${minutes} min ${Math.round(seconds - minutes * 60)} s`;
}

export function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (number >= 1024 && unit < units.length - 1) {
    number /= 1024;
    unit += 1;
  }
  return `${number >= 100 || unit === 0 ? number.toFixed(0) : number.toFixed(1)} ${units[unit]}`;
}

export function percent(share) {
  const value = share * 100;
  if (value > 0 && value < 0.01) return "< 0.01 %";
  return `${value >= 99.95 || value === 0 ? value.toFixed(0) : value.toFixed(value < 1 ? 2 : 1)} %`;
}

export function plural(number, word) {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}
