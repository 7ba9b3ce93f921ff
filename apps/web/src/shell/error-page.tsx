import type { ErrorComponentProps } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { Button } from "../ui/button.tsx";

/** Error boundary of one page. The rest of the page keeps working. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const words = error instanceof Error ? error.message : "Nothing says why.";
  // The chunk belongs to an older build: the server was upgraded while the page was open.
  const isOutdated = /dynamically imported module|module script/i.test(words);
  return (
    <div role="alert" className="grid h-full place-items-center p-6">
      <div className="max-w-lg">
        <TriangleAlert aria-hidden className="size-6 text-bad" />
        <h1 className="mt-2 text-lg font-semibold">
          {isOutdated ? "The page has been updated" : "This part of the page has broken"}
        </h1>
        <p className="mt-1 text-ink-soft">
          {isOutdated
            ? "Load it again to have the new one. Nothing is lost."
            : "Sessions are not touched by it: they work on, and nothing of them is lost. Try once more, or load the page again. If it stays, the words below help whoever mends it."}
        </p>
        {!isOutdated && (
          <pre className="mt-3 max-h-40 overflow-auto rounded-md bg-raised p-2.5 font-mono text-xs whitespace-pre-wrap text-ink-soft">
            {words}
          </pre>
        )}
        <div className="mt-4 flex gap-2">
          <Button look="primary" onClick={() => location.reload()}>
            Load the page again
          </Button>
          {!isOutdated && <Button onClick={reset}>Try once more</Button>}
        </div>
      </div>
    </div>
  );
}
