import type { ConnectionTest, SourceTest } from "@tandem/protocol";
import { CircleCheck } from "lucide-react";
import type { ReactNode } from "react";
import { duration } from "../../text/format.ts";

const whole = (value: number): string => value.toLocaleString();

export function ConnectionResult({ test }: { test: ConnectionTest }) {
  return (
    <Result title="The connection works">
      <Fact name="Database">{test.version}</Fact>
      <Fact name="Tables">
        {whole(test.tables)}
        {test.views > 0 && `, and ${whole(test.views)} views`}
      </Fact>
      <Fact name="Access">
        Read-only: Tandem refuses every statement that writes.
        {test.account_can_write === true && (
          <span className="block text-wait">
            The account itself may change data. An account with read rights only is safer.
          </span>
        )}
        {test.account_can_write === false && " The account has no right to write either."}
      </Fact>
      <Fact name="Time">{duration(test.milliseconds)}</Fact>
    </Result>
  );
}

export function SourceResult({ test }: { test: SourceTest }) {
  return (
    <Result title="The folder can be read">
      <Fact name="Documents">{whole(test.documents)}</Fact>
      <Fact name="Size">{size(test.bytes)}</Fact>
      {test.skipped_count > 0 && (
        <Fact name="Skipped">
          {whole(test.skipped_count)}
          <ul className="mt-0.5 max-h-40 overflow-y-auto text-xs text-ink-soft">
            {test.skipped.map(({ path, message }) => (
              <li key={path} className="wrap-anywhere">
                <span className="font-mono">{path}</span>: {message}
              </li>
            ))}
          </ul>
        </Fact>
      )}
    </Result>
  );
}

function Result({ title, children }: { title: string; children: ReactNode }) {
  return (
    <output className="block rounded-lg border border-line bg-surface px-3 py-2.5">
      <p className="flex items-center gap-2 font-medium text-good">
        <CircleCheck aria-hidden className="size-4" /> {title}
      </p>
      <dl className="mt-1.5 grid grid-cols-[auto_minmax(0,1fr)] gap-x-5 gap-y-1 text-sm">{children}</dl>
    </output>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="contents">
      <dt className="text-ink-faint">{name}</dt>
      <dd className="wrap-anywhere">{children}</dd>
    </div>
  );
}

const size = (bytes: number): string =>
  bytes < 1_024 * 1_024 ? `${Math.ceil(bytes / 1_024)} kB` : `${(bytes / 1_024 / 1_024).toFixed(1)} MB`;
