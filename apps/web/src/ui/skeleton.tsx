/** A loading placeholder. It appears only after a short delay. */
export function Skeleton({ rows, className = "" }: { rows: readonly string[]; className?: string }) {
  return (
    <div aria-hidden className={`animate-late space-y-3 ${className}`}>
      {rows.map((look, index) => (
        <div key={index} className={`h-4 animate-pulse rounded-md bg-raised ${look}`} />
      ))}
    </div>
  );
}
