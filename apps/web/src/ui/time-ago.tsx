import { ago, formatDateTime } from "../text/format.ts";

/** How long ago something happened, with the exact time as its title. */
export function TimeAgo({ at, className = "" }: { at: string; className?: string }) {
  return (
    <time dateTime={at} title={formatDateTime(at)} className={className}>
      {ago(at)}
    </time>
  );
}
