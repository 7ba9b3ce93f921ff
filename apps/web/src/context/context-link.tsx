import { Link } from "@tanstack/react-router";
import type { ComponentProps, ReactNode } from "react";
import type { ContextSearch } from "./context-search-params.ts";

/** Section paths are prefixes of detail paths, so a link is active only on an exact match. */
const EXACTLY = { exact: true, includeSearch: true };
const NO_SEARCH: ContextSearch = {};

/** A link into the context; `path` follows `/context/`. */
export function ContextLink({
  path,
  search = NO_SEARCH,
  children,
  ...rest
}: { path: string; search?: ContextSearch; children: ReactNode } & Omit<ComponentProps<"a">, "href" | "children">) {
  return (
    <Link to="/context/$" params={{ _splat: path }} search={search} activeOptions={EXACTLY} {...rest}>
      {children}
    </Link>
  );
}

export const linkClass = "text-accent underline underline-offset-2 decoration-accent/40 hover:decoration-accent";
