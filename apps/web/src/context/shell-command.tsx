import { CopyButton } from "../text/code.tsx";

/** A terminal command with a copy button. */
export function ShellCommand({ children }: { children: string }) {
  return (
    <div className="group/code relative overflow-hidden rounded-md border border-line bg-raised">
      <pre
        className="overflow-x-auto px-3 py-1.5 text-left font-mono text-xs leading-relaxed"
        tabIndex={0}
        aria-label="Command"
      >
        <span aria-hidden className="text-ink-faint select-none">
          ${" "}
        </span>
        {children}
      </pre>
      <CopyButton text={children} />
    </div>
  );
}
