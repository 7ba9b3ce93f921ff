import { ApiError } from "../../../api/client.ts";
import { Problem } from "../../../ui/problem.tsx";
import { Refusal } from "../refusal.tsx";

/** Titles by the compiler's code. */
const TITLES: Readonly<Record<string, string>> = {
  unsafe: "Refused: the numbers would be wrong",
  ambiguous: "Refused: the query can mean several things",
  unknown_name: "Refused: the query names something that does not exist",
  unsupported: "Refused: this database cannot compute it",
  broken_definition: "Refused: a definition is broken",
  invalid_expression: "Refused: a definition is broken",
};

/** A refused query with its reason and fix; other errors as on every page. */
export function QueryRefusal({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (!(error instanceof ApiError) || error.status === 0 || error.status >= 500) {
    return <Problem error={error} onRetry={onRetry} />;
  }
  const { code, fix, message } = error;
  return (
    <Refusal
      title={TITLES[code ?? ""] ?? "The query was refused"}
      message={withoutFix(message, fix)}
      fix={fix ?? undefined}
    />
  );
}

/** The message of an error ends with its fix. */
const withoutFix = (message: string, fix: string | null): string =>
  fix !== null && message.endsWith(fix) ? message.slice(0, -fix.length).trim() : message;
