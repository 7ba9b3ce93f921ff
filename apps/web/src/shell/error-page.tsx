import type { ErrorComponentProps } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { Button } from "../ui/button.tsx";

/** Error boundary of one page. The rest of the page keeps working. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const words = error instanceof Error ? error.message : "Unknown error.";
  // The chunk belongs to an older build: the server was upgraded while the page was open.
  const isOutdated = /dynamically imported module|module script/i.test(words);
  return (
    <div role="alert" className="grid h-full place-items-center p-6">
      <div className="max-w-lg">
        <TriangleAlert aria-hidden className="size-6 text-bad" />
        <h1 className="mt-2 text-lg font-semibold">
          {isOutdated ? "The page has been updated" : "This part of the page crashed"}
        </h1>
        <p className="mt-1 text-ink-soft">
          {isOutdated
            ? "Reload to use the new version. Nothing is lost."
            : "Your sessions keep running and nothing is lost. Try again or reload the page. If the error stays, include the message below in a bug report."}
        </p>
        {!isOutdated && (
          <pre className="mt-3 max-h-40 overflow-auto rounded-md bg-raised p-2.5 font-mono text-xs whitespace-pre-wrap text-ink-soft">
            {words}
          </pre>
        )}
        <div className="mt-4 flex gap-2">
          <Button look="primary" onClick={() => location.reload()}>
            Reload page
          </Button>
          {!isOutdated && <Button onClick={reset}>Try again</Button>}
        </div>
      </div>
    </div>
  );
}
