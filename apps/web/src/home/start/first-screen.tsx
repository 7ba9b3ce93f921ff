import type { ServerStatus } from "@tandem/protocol";
import { ArrowRight, Plus } from "lucide-react";
import { useServerQuery } from "../../api/use-server-query.ts";
import { useOwnTenant } from "../../live/own-tenant.ts";
import { PAYERS } from "../../settings/status/server-status.ts";
import { openNewSession, startDraft } from "../../state/new-session.ts";
import { InlineCode } from "../../text/inline-code.tsx";
import { folderName } from "../../text/path-labels.ts";
import { Button } from "../../ui/button.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";

/** The session list without sessions: three prompts for the folder, and who is billed. */
export function FirstScreen() {
  const { is_operator: isOperator } = useOwnTenant();
  const { data, isPending } = useServerQuery("status.retrieve", {}, { enabled: isOperator, staleTime: 60_000 });
  return (
    <div className="rounded-lg border border-dashed border-line-strong px-4 py-10 text-center sm:px-6">
      <p className="text-base font-semibold">What should the agent do?</p>
      <p className="mx-auto mt-1 max-w-md text-ink-soft">
        A session is one conversation with an agent that works in a folder
        {data?.roots[0] !== undefined && (
          <>
            , here in <strong className="font-medium text-ink">{folderName(data.roots[0])}</strong>
          </>
        )}
        . Choose a prompt, or write your own.
      </p>
      <div className="mx-auto mt-4 max-w-md text-left">
        {isOperator && isPending && <Skeleton rows={["h-11", "h-11", "h-11"]} />}
        <ul className="space-y-2">
          {data?.suggestions.map((prompt) => (
            <li key={prompt}>
              <button
                type="button"
                onClick={() => {
                  startDraft.set(prompt);
                  openNewSession();
                }}
                className="group flex min-h-11 w-full items-center gap-2 rounded-md border border-line bg-surface px-3 py-2 text-left hover:border-line-strong hover:bg-raised"
              >
                <span className="flex-1">{prompt}</span>
                <ArrowRight aria-hidden className="size-4 shrink-0 text-ink-faint group-hover:text-ink" />
              </button>
            </li>
          ))}
        </ul>
      </div>
      <Button
        look="primary"
        keys="n"
        icon={<Plus aria-hidden className="size-4" />}
        className="mt-4"
        onClick={openNewSession}
      >
        Start a session
      </Button>
      {data && <Billing status={data} />}
    </div>
  );
}

function Billing({ status: { sessions } }: { status: Pick<ServerStatus, "sessions"> }) {
  const { payer, auth } = sessions;
  const account = [auth.account?.email, auth.account?.plan].filter(Boolean).join(", ");
  const isReady = auth.state === "usable" || auth.state === "found" || auth.state === "unverified";
  return isReady || payer === "nobody" ? (
    <p className="mt-4 text-sm text-ink-soft">
      Billed to: {PAYERS[payer] ?? payer}
      {account !== "" && ` (${account})`}
    </p>
  ) : (
    <p className="mt-4 text-sm text-wait">
      Sessions cannot run yet: <InlineCode text={`${auth.detail} ${auth.fix}`} />
    </p>
  );
}
