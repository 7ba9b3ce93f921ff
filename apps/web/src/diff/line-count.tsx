/** Added and removed lines. Binary files have none. */
export function LineCount({ added, removed }: { added: number | null; removed: number | null }) {
  if (added === null || removed === null) return <span className="text-xs text-ink-faint">binary</span>;
  return (
    <span className="shrink-0 font-mono text-xs whitespace-nowrap tabular-nums">
      {added > 0 && <span className="text-good">+{added}</span>}
      {added > 0 && removed > 0 && " "}
      {removed > 0 && <span className="text-bad">−{removed}</span>}
    </span>
  );
}
