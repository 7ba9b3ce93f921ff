import { Database, FileText, Plus } from "lucide-react";
import type { ReactNode } from "react";
import { count } from "../../text/format.ts";
import { buttonClass } from "../../ui/button.tsx";
import { useOverview } from "../context-api.ts";
import { ContextLink, linkClass } from "../context-link.tsx";
import { AddSource } from "./add-source.tsx";

/** The databases and documents named in the config; `new` adds one. */
export default function SourcesView({ source }: { source: string }) {
  const { data } = useOverview();
  if (source === "new") return <AddSource />;
  if (!data) return null;
  const { connections, sources, folder } = data;
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-3xl space-y-7 px-4 py-5 sm:py-7">
        <ContextLink path="sources/new" className={buttonClass("primary")}>
          <Plus aria-hidden className="size-4" /> Add a database or folder
        </ContextLink>
        <List title="Databases" isEmpty={connections.length === 0}>
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
        <List title="Documents" isEmpty={sources.length === 0}>
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
            Plain text files under git. Edit them with any editor; your edits are kept.
          </p>
        </section>
        <p className="text-sm text-ink-soft">
          To read the sources, use{" "}
          <ContextLink path="jobs" className={linkClass}>
            Jobs
          </ContextLink>
          , or <code className="font-mono text-xs">tandem context scan</code> and{" "}
          <code className="font-mono text-xs">tandem context ingest</code>.
        </p>
      </div>
    </div>
  );
}

function List({ title, isEmpty, children }: { title: string; isEmpty: boolean; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className="mb-1.5 text-sm font-medium text-ink-soft">{title}</h2>
      {isEmpty ? (
        <p className="text-sm text-ink-faint">None yet.</p>
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
