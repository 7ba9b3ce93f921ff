import type { ReactNode } from "react";

/** Title, description and main action of a settings page. */
export function PageHead({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <header className="mb-4 flex flex-wrap items-start gap-x-4 gap-y-2">
      <div className="min-w-52 flex-1">
        <h1 className="text-lg font-semibold">{title}</h1>
        {children !== undefined && <p className="mt-0.5 text-ink-soft">{children}</p>}
      </div>
      {action}
    </header>
  );
}

export function Panel({ title, children, note }: { title?: string; children: ReactNode; note?: ReactNode }) {
  return (
    <section className="mb-5">
      {title !== undefined && <h2 className="mb-1.5 text-sm font-medium text-ink-soft">{title}</h2>}
      <div className="overflow-hidden rounded-lg border border-line bg-surface">{children}</div>
      {note !== undefined && <p className="mt-1.5 text-xs text-ink-faint">{note}</p>}
    </section>
  );
}

/** A list of names and values. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode] | false)[] }) {
  return (
    <dl className="divide-y divide-line">
      {facts
        .filter((fact) => fact !== false)
        .map(([name, value]) => (
          <div key={name} className="grid gap-x-4 px-3 py-1.5 sm:grid-cols-[9rem_minmax(0,1fr)]">
            <dt className="text-ink-faint">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function Rows({ children }: { children: ReactNode }) {
  return <ul className="divide-y divide-line">{children}</ul>;
}

/** A panel with a row for each item; nothing while they are unknown, and `empty` if there are none. */
export function ListPanel<Item>({
  items,
  empty = null,
  children,
  ...rest
}: {
  items: readonly Item[] | undefined;
  empty?: ReactNode;
  title?: string;
  note?: ReactNode;
  /** The row of an item, with its key. */
  children: (item: Item, index: number) => ReactNode;
}) {
  if (items === undefined || items.length === 0) return items && empty;
  return (
    <Panel {...rest}>
      <Rows>{items.map(children)}</Rows>
    </Panel>
  );
}

export function Row({ children }: { children: ReactNode }) {
  return <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">{children}</li>;
}

const TONES = {
  good: "bg-good-soft text-good",
  wait: "bg-wait-soft text-wait",
  bad: "bg-bad-soft text-bad",
  plain: "bg-raised text-ink-soft",
} as const;
export type Tone = keyof typeof TONES;

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`shrink-0 rounded px-1.5 py-0.5 text-xs font-medium ${TONES[tone]}`}>{children}</span>;
}

export function Mono({ children }: { children: ReactNode }) {
  return <code className="rounded bg-raised px-1 font-mono text-[0.8125rem] break-all">{children}</code>;
}
