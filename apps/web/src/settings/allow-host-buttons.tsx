import type { SandboxHost } from "@tandem/protocol";
import { api } from "../api/client.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { useChange } from "../api/use-change.ts";

/** The first part of the key of every query for allowed and refused hosts. */
export const SANDBOX_HOSTS = "/v1/sandbox/hosts";

const CHOICES: readonly { scope: SandboxHost["scope"]; label: string; title?: string }[] = [
  { scope: "once", label: "Allow once", title: "For this session, for five minutes" },
  { scope: "session", label: "Allow for this session" },
  { scope: "folder", label: "Allow in this folder" },
];

/** Buttons that allow a refused host. The next connection of the running session succeeds. */
export function AllowHostButtons({ host, session }: { host: string; session: string }) {
  const allow = useChange([SANDBOX_HOSTS], (scope: SandboxHost["scope"]) =>
    api.call("sandbox.hosts.create", { body: { host, scope, session_id: session } }),
  );
  return (
    <div className="mt-1.5 flex flex-wrap items-center gap-2">
      {CHOICES.map(({ scope, label, title }) => (
        <Button key={scope} size="small" title={title} disabled={allow.isPending} onClick={() => allow.mutate(scope)}>
          {label}
        </Button>
      ))}
      <Problem error={allow.error} />
    </div>
  );
}
