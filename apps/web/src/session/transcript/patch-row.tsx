import type { PartOf } from "@tandem/protocol";
import { Link } from "@tanstack/react-router";
import { FileDiff } from "lucide-react";
import { useSession } from "../../state/session-context.ts";
import { plural, shortened } from "../../tool/describe-tool.ts";
import { PatchCount } from "./tool/patch-count.tsx";

/**
 * The files edited by tools in a turn, each with a link to its call. Changes made by commands are in the changes view.
 */
export function PatchRow({ part }: { part: PartOf<"patch"> }) {
  const { id, folder } = useSession();
  const to = { to: "/sessions/$session", params: { session: id } } as const;
  return (
    <figure aria-label="Changed files" className="my-2 rounded-lg border border-line bg-surface text-sm">
      <div className="flex items-center gap-2 border-b border-line px-3 py-1.5">
        <FileDiff aria-hidden className="size-4 text-ink-faint" />
        <span className="font-medium">{plural(part.files.length, "file")} edited</span>
        <Link {...to} search={{ view: "changes" }} className="ml-auto text-accent hover:underline">
          Review all changes
        </Link>
      </div>
      <ul className="py-1">
        {part.files.map(({ path, added, removed, tools }) => (
          <li key={path}>
            <Link
              {...to}
              search={{ part: tools.at(-1) ?? part.id }}
              className="flex min-h-6 items-center gap-2 px-3 hover:bg-raised max-md:min-h-10"
            >
              <span className="truncate font-mono text-xs">{shortened(path, folder)}</span>
              <span className="ml-auto shrink-0">
                <PatchCount added={added} removed={removed} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </figure>
  );
}
