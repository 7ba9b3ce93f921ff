import { Database, FileText } from "lucide-react";
import type { ReactNode } from "react";
import { count } from "../../text/format.ts";
import { ShellCommand } from "../shell-command.tsx";
import { useOverview } from "../context-api.ts";
import { ContextLink, linkClass } from "../context-link.tsx";

/** The databases and documents named in the config. */
export default function SourcesView() {
  const { data } = useOverview();
  if (!data) return null;
  const { connections, sources, folder } = data;
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-3xl space-y-7 px-4 py-5 sm:py-7">
        <List
          title="Databases"
          isEmpty={connections.length === 0}
          empty={<ShellCommand>tandem connections add shop shop.sqlite</ShellCommand>}
        >
          {connections.map(({ name, driver, tables }) => (
            <Item
              key={name}
              icon={<Database aria-hidden className="size-4 text-ink-faint" />}
              name={name}
              type={driver}
            >
              <ContextLink path="tables" className={linkClass}>
                {count(tables)} tables
              </ContextLink>
            </Item>
          ))}
        </List>
        <List
          title="Documents"
          isEmpty={sources.length === 0}
          empty={
            <pre
              className="overflow-x-auto rounded-md border border-line bg-raised px-3 py-2 font-mono text-xs"
              tabIndex={0}
              aria-label="tandem.yaml"
            >
              {"# tandem.yaml\ningest:\n  sources:\n    docs: { path: docs }"}
            </pre>
          }
        >
          {sources.map(({ name, type }) => (
            <Item
              key={name}
              icon={<FileText aria-hidden className="size-4 text-ink-faint" />}
              name={name}
              type={type}
            />
          ))}
        </List>
        <section aria-labelledby="folder">
          <h2 id="folder" className="mb-1.5 text-sm font-medium text-ink-soft">
            Folder
          </h2>
          <p className="font-mono text-xs wrap-anywhere">{folder}</p>
          <p className="mt-1 text-sm text-ink-soft">
            All of it is plain text under git: edit it with any editor, and what you wrote stays.
          </p>
        </section>
        <p className="text-sm text-ink-soft">
          To have them read:{" "}
          <ContextLink path="jobs" className={linkClass}>
            Jobs
          </ContextLink>
          , or <code className="font-mono text-xs">tandem scan</code> and{" "}
          <code className="font-mono text-xs">tandem ingest</code>.
        </p>
      </div>
    </div>
  );
}

function List({
  title,
  isEmpty,
  empty,
  children,
}: {
  title: string;
  isEmpty: boolean;
  empty: ReactNode;
  children: ReactNode;
}) {
  return (
    <section aria-label={title}>
      <h2 className="mb-1.5 text-sm font-medium text-ink-soft">{title}</h2>
      {isEmpty ? (
        <>
          <p className="mb-2 text-sm text-ink-faint">None yet. Name one, and start the server again:</p>
          {empty}
        </>
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line bg-surface">{children}</ul>
      )}
    </section>
  );
}

function Item({ icon, name, type, children }: { icon: ReactNode; name: string; type: string; children?: ReactNode }) {
  return (
    <li className="flex min-h-10 items-center gap-2.5 px-3 py-1.5">
      {icon}
      <span className="font-medium">{name}</span>
      <span className="text-sm text-ink-faint">{type}</span>
      {children !== undefined && <span className="ml-auto text-sm">{children}</span>}
    </li>
  );
}
