const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 0 });

/** A confidence value as a bar and a percentage. */
export function Confidence({ value }: { value: number }) {
  const look = value >= 0.9 ? "bg-good" : value >= 0.7 ? "bg-wait" : "bg-bad";
  return (
    <span className="flex items-center gap-1.5 text-xs tabular-nums text-ink-soft" title={`Confidence ${value}`}>
      <span aria-hidden className="h-1.5 w-9 overflow-hidden rounded-full bg-line forced-color-adjust-none">
        <span className={`block h-full ${look}`} style={{ width: `${value * 100}%` }} />
      </span>
      <span className="w-8 text-right">
        <span className="sr-only">confidence </span>
        {percent.format(value)}
      </span>
    </span>
  );
}
