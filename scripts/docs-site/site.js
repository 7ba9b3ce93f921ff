// Theme, menu and search of the docs site. Loaded in the head, so that the theme is set before the first paint.
(() => {
  const root = document.documentElement;
  const base = root.dataset.root || "./";
  const themes = ["system", "light", "dark"];
  let theme = "system";
  try {
    const stored = localStorage.getItem("tandem-docs-theme");
    if (themes.includes(stored)) theme = stored;
  } catch {
    // Storage is blocked; the theme follows the system.
  }
  const applyTheme = () => {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
  };
  applyTheme();

  /** Loads the index on first use: most visits do not search. */
  let index;
  const loadIndex = () =>
    (index ??= new Promise((resolve, reject) => {
      globalThis.tandemSearchIndex = (pages) =>
        resolve(
          pages.flatMap(([path, title, sections]) =>
            sections.map(([anchor, heading, text]) => ({
              path,
              title,
              anchor,
              heading,
              text,
              lower: text.toLowerCase(),
            })),
          ),
        );
      const script = document.createElement("script");
      script.src = `${base}search-index.js`;
      script.addEventListener("error", () => reject(new Error("The search index could not be loaded.")));
      document.head.append(script);
    }));

  const score = ({ path, title, heading, lower }, words) => {
    let sum = 0;
    for (const word of words) {
      const inTitle = title.toLowerCase().includes(word);
      const inHeading = heading.toLowerCase().includes(word);
      const count = lower.split(word).length - 1;
      if (!inTitle && !inHeading && count === 0) return 0;
      sum += (inTitle ? (heading === "" ? 40 : 8) : 0) + (inHeading ? 30 : 0) + Math.min(count, 5);
    }
    // Guides answer a reader's question before records of the project do.
    return /^(decisions|project)\//.test(path) ? sum * 0.3 : sum;
  };

  const excerpt = ({ text, lower }, words) => {
    const at = Math.max(0, Math.min(...words.map((word) => lower.indexOf(word)).filter((position) => position >= 0)));
    const from = Number.isFinite(at) ? Math.max(0, at - 40) : 0;
    return `${from > 0 ? "…" : ""}${text.slice(from, from + 140)}`;
  };

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("#theme");
    const showTheme = () => {
      button.textContent = { system: "◐", light: "☀", dark: "☾" }[theme];
      button.setAttribute("aria-label", `Theme: ${theme}. Change it`);
      button.title = `Theme: ${theme}`;
    };
    showTheme();
    button.addEventListener("click", () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      try {
        localStorage.setItem("tandem-docs-theme", theme);
      } catch {
        // Not stored; the choice lasts for this page.
      }
      applyTheme();
      showTheme();
    });

    const menu = document.querySelector("#menu");
    menu.addEventListener("click", () => {
      const isOpen = menu.getAttribute("aria-expanded") !== "true";
      menu.setAttribute("aria-expanded", String(isOpen));
      document.querySelector("#navigation").classList.toggle("open", isOpen);
    });
    document.querySelector("#navigation [aria-current]")?.scrollIntoView({ block: "nearest" });

    const field = document.querySelector("#search");
    const list = document.querySelector("#results");
    const found = document.querySelector("#found");
    let selected = -1;
    const close = () => {
      list.hidden = true;
      field.setAttribute("aria-expanded", "false");
      field.removeAttribute("aria-activedescendant");
      selected = -1;
    };
    const select = (position) => {
      const options = [...list.children];
      if (options.length === 0) return;
      selected = (position + options.length) % options.length;
      for (const [at, option] of options.entries()) option.setAttribute("aria-selected", String(at === selected));
      options[selected].scrollIntoView({ block: "nearest" });
      field.setAttribute("aria-activedescendant", options[selected].id);
    };
    const search = async () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length === 0) return close();
      const typed = field.value;
      const sections = await loadIndex();
      if (field.value !== typed) return;
      const hits = sections
        .map((section) => ({ section, points: score(section, words) }))
        .filter(({ points }) => points > 0)
        .sort((a, b) => b.points - a.points)
        .slice(0, 12);
      list.replaceChildren(
        ...hits.map(({ section }, at) => {
          const item = document.createElement("li");
          item.role = "option";
          item.id = `result-${at}`;
          const link = document.createElement("a");
          link.href = `${base}${section.path}${section.anchor && `#${section.anchor}`}`;
          link.tabIndex = -1;
          const name = document.createElement("strong");
          name.textContent = section.heading ? `${section.title} › ${section.heading}` : section.title;
          const text = document.createElement("span");
          text.textContent = excerpt(section, words);
          link.append(name, text);
          item.append(link);
          return item;
        }),
      );
      found.textContent = hits.length === 0 ? "No results" : `${hits.length} results`;
      found.classList.toggle("hidden", hits.length > 0);
      list.hidden = hits.length === 0;
      field.setAttribute("aria-expanded", String(hits.length > 0));
      selected = -1;
    };
    field.addEventListener("focus", () => void loadIndex().catch(() => undefined));
    field.addEventListener("input", () => void search());
    field.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") select(selected + 1);
      else if (event.key === "ArrowUp") select(selected - 1);
      else if (event.key === "Escape") close();
      else return;
      event.preventDefault();
    });
    document.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      list.children[Math.max(selected, 0)]?.querySelector("a")?.click();
    });
    document.addEventListener("click", (event) => {
      if (!event.target.closest("form") || event.target.closest("#results a")) close();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target.closest("input") || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      field.focus();
    });
  });
})();
