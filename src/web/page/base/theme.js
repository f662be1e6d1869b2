// Light, dark, or as the system has it. The colours themselves are in style/theme.css.

import { icon, setChildren } from "./dom.js";

const KEY = "rapt.theme";
const ORDER = ["auto", "light", "dark"];
const ICON = { auto: "auto", light: "sun", dark: "moon" };

export function startTheme(button) {
  let theme = localStorage.getItem(KEY) ?? "auto";
  if (!ORDER.includes(theme)) theme = "auto";
  const show = () => {
    document.documentElement.dataset.theme = theme;
    const label = `Colours: ${theme === "auto" ? "as the system" : theme}`;
    button.setAttribute("aria-label", label);
    button.title = label;
    setChildren(button, [icon(ICON[theme])]);
  };
  button.addEventListener("click", () => {
    theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];
    localStorage.setItem(KEY, theme);
    show();
  });
  show();
}
