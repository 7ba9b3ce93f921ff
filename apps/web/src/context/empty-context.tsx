import { Plus } from "lucide-react";
import { buttonClass } from "../ui/button.tsx";
import { ContextLink } from "./context-link.tsx";
import { ShellCommand } from "./shell-command.tsx";

/** The first step for a project without databases and documents. */
export function EmptyContext() {
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto max-w-lg px-4 py-12">
        <h2 className="text-base font-semibold">This project has no context yet</h2>
        <p className="mt-1 text-ink-soft">
          Add a database or a folder of documents. Agents then propose descriptions and wiki pages, and every agent can
          search the ones you accept.
        </p>
        <ContextLink path="sources/new" className={`mt-4 ${buttonClass("primary")}`}>
          <Plus aria-hidden className="size-4" /> Add a database or folder
        </ContextLink>
        <p className="mt-6 mb-1 text-sm text-ink-soft">Or in a terminal:</p>
        <ShellCommand>tandem connections add shop shop.sqlite</ShellCommand>
        <p className="mt-5 text-sm text-ink-faint">
          To try it with sample data: <code className="font-mono text-xs">tandem demo context</code> creates a small
          sample shop.
        </p>
      </div>
    </div>
  );
}
