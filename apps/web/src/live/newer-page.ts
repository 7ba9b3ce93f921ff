import { LiveValue } from "./live-value.ts";

/** What this page was begun with, by names that are of what is in them: the page of another build has other ones. */
const own = [...document.querySelectorAll("script[src], link[rel=stylesheet]")].map(
  (element) => element.getAttribute("src") ?? element.getAttribute("href") ?? "",
);

/** Whether the server has a newer page than this one. */
export const isPageOld = new LiveValue(false);

/** A server that was away may have come back as another one. What does not look like the page says nothing of it. */
export async function lookForNewerPage(): Promise<void> {
  const response = await fetch("/", { cache: "no-store" }).catch(() => undefined);
  const page = response?.ok ? await response.text().catch(() => "") : "";
  if (page.includes('id="root"')) isPageOld.set(!own.every((file) => page.includes(file)));
}
