  // Text from the data is only ever written as text (textContent, fillText), never as HTML.
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const darkSystem = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (darkSystem.matches ? "dark" : "light")) === "dark";
  const themeButton = byId("theme");
  // What else changes with the colours: drawings that are not made of elements.
  let redraw = () => {};

  function nameTheme() { themeButton.textContent = isDark() ? "Light" : "Dark"; }
  themeButton.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
    redraw();
  });
  darkSystem.addEventListener("change", () => { nameTheme(); redraw(); });
  nameTheme();
  // Paper and links into folded parts need them open.
  window.addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details:not([open])")) { one.open = true; one.dataset.folded = ""; }
  });
  window.addEventListener("afterprint", () => {
    for (const one of document.querySelectorAll("details[data-folded]")) { one.open = false; delete one.dataset.folded; }
  });
