import { LiveValue } from "./live-value.ts";

/** The hashed script and style names of this page. Another build has other names. */
const own = [...document.querySelectorAll("script[src], link[rel=stylesheet]")].map(
  (element) => element.getAttribute("src") ?? element.getAttribute("href") ?? "",
);

export const isPageOutdated = new LiveValue(false);

/**
 * The server may have been upgraded during an outage. A response that is not the page (a proxy error, for example) is
 * ignored.
 */
export async function checkForNewerPage(): Promise<void> {
  const response = await fetch("/", { cache: "no-store" }).catch(() => undefined);
  const page = response?.ok ? await response.text().catch(() => "") : "";
  if (page.includes('id="root"')) isPageOutdated.set(!own.every((file) => page.includes(file)));
}
