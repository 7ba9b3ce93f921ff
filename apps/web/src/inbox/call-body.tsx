import type { Approval } from "@tandem/protocol";
import { PatchDiff } from "../diff/patch-diff.tsx";
import { Code } from "../text/code.tsx";
import { Markdown } from "../text/markdown.tsx";
import { escapeHidden } from "../text/escape-hidden.ts";
import { relativePath } from "../text/path-labels.ts";

/** The full effect of a call: the plan, the diff, the command, or the tool's input. */
export function CallBody({ approval }: { approval: Approval }) {
  const { kind, plan, diff, input, tool, folder } = approval;
  if (kind === "plan") return <PlanBody plan={plan ?? ""} input={input} />;
  const command = input["command"];
  const path = input["file_path"] ?? input["notebook_path"];
  const { shown, rest } = restOf(input, diff ? ["old_string", "new_string", "content", "edits"] : []);
  return (
    <div className="space-y-2">
      {typeof command === "string" && <Code text={command} language="bash" isWhole />}
      {typeof path === "string" && (
        <p className="font-mono text-sm wrap-anywhere">
          {relativePath(folder, path)}
          {diff?.kind === "create" && <span className="ml-2 font-sans text-xs text-good">new file</span>}
        </p>
      )}
      {diff && (
        <div className="overflow-hidden rounded-md border border-line">
          <PatchDiff patch={diff} label={`Changes to ${diff.path}`} />
        </div>
      )}
      {shown.length > 0 && <Fields fields={shown} />}
      {Object.keys(rest).length > 0 && <Code text={JSON.stringify(rest, null, 2)} language="json" isWhole />}
      {Object.keys(input).length === 0 && <p className="text-sm text-ink-soft">{tool} is called without input.</p>}
    </div>
  );
}

function PlanBody({ plan, input }: { plan: string; input: Approval["input"] }) {
  const prompts = (Array.isArray(input["allowedPrompts"]) ? input["allowedPrompts"] : []) as {
    tool?: string;
    prompt?: string;
  }[];
  return (
    <div className="space-y-3">
      <div className="rounded-md border border-line bg-ground px-4 py-3">
        <Markdown text={plan} />
      </div>
      {prompts.length > 0 && (
        <div className="text-sm">
          <p className="text-ink-soft">The plan also requests these permissions:</p>
          <ul className="mt-1 list-disc pl-5">
            {prompts.map(({ tool, prompt }, index) => (
              <li key={index}>
                <span className="font-medium">{tool}</span>: {prompt}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

const SHOWN_ABOVE = new Set(["command", "description", "file_path", "notebook_path", "plan", "allowedPrompts"]);

/** Short values take one line each; the rest is shown as JSON. */
function restOf(input: Approval["input"], hidden: readonly string[]) {
  const others = Object.entries(input).filter(([key]) => !SHOWN_ABOVE.has(key) && !hidden.includes(key));
  const isShort = (value: unknown): boolean =>
    (typeof value === "string" && value.length < 400) || typeof value === "number" || typeof value === "boolean";
  // Flags that are false by default are left out.
  const shown = others
    .filter(([, value]) => isShort(value) && value !== false)
    .map(([key, value]) => [key, String(value)] as const);
  return { shown, rest: Object.fromEntries(others.filter(([, value]) => !isShort(value))) };
}

function Fields({ fields }: { fields: readonly (readonly [string, string])[] }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 text-sm">
      {fields.map(([key, value]) => (
        <div key={key} className="contents">
          <dt className="text-ink-faint">{key.replaceAll("_", " ")}</dt>
          <dd className="whitespace-pre-wrap wrap-anywhere">{escapeHidden(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
