import { escape, relativePath, type RenderedPage } from "./render-page.ts";

/** A group of the navigation, from a section of docs/README.md. */
export interface NavigationGroup {
  title: string;
  links: { title: string; path: string }[];
}

/** For a copy on a static host, which cannot set the header. The server sends the same policy as a header. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

export function pageTemplate(
  page: { path: string; title: string } & RenderedPage,
  navigation: NavigationGroup[],
): string {
  const to = (path: string): string => relativePath(page.path, path);
  const links = navigation.flatMap((group) => group.links);
  const position = links.findIndex(({ path }) => path === page.path);
  const neighbour = (step: 1 | -1, label: string): string => {
    const link = position === -1 ? undefined : links[position + step];
    return link ? `<a href="${to(link.path)}"><small>${label}</small>${escape(link.title)}</a>` : "<span></span>";
  };
  const groups = navigation
    .map(({ title, links }) => {
      const items = links.map(({ title, path }) => {
        const current = path === page.path ? ' aria-current="page"' : "";
        return `<li><a href="${to(path)}"${current}>${escape(title)}</a></li>`;
      });
      return `<h2>${escape(title)}</h2><ul>${items.join("")}</ul>`;
    })
    .join("\n");
  const contents = page.contents
    .map(({ title, anchor }) => `<li><a href="#${anchor}">${escape(title)}</a></li>`)
    .join("");
  const title = page.path === "index.html" ? "Tandem documentation" : `${page.title} · Tandem`;
  return `<!doctype html>
<html lang="en" data-root="${to("")}">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)}</title>
<link rel="icon" href="${to("icon.svg")}" type="image/svg+xml">
<link rel="stylesheet" href="${to("site.css")}">
<script src="${to("site.js")}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="home" href="${to("index.html")}"><img src="${to("icon.svg")}" alt="" width="24" height="24">Tandem docs</a>
<form role="search"><input type="search" id="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" role="combobox" aria-expanded="false" aria-controls="results" aria-keyshortcuts="/"><ul id="results" role="listbox" aria-label="Search results" hidden></ul><p id="found" class="hidden" role="status"></p></form>
<button type="button" id="menu" aria-expanded="false" aria-controls="navigation">Menu</button>
<button type="button" id="theme" aria-label="Theme">◐</button>
</header>
<div class="columns">
<nav id="navigation" aria-label="Documentation">
${groups}
</nav>
<main id="content" tabindex="-1">
${page.html}
<footer>${neighbour(-1, "Previous")}${neighbour(1, "Next")}</footer>
</main>
<aside aria-label="On this page">${contents && `<h2>On this page</h2><ul>${contents}</ul>`}</aside>
</div>
</body>
</html>
`;
}
