import { useMutation } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/problem.tsx";
import { ContextLink, linkClass } from "../context-link.tsx";
import { startJob } from "../jobs/job-api.ts";

/** Header for the memories of one session: a link to all memories, and a button to read the session now. */
export function SessionMemoriesBar({ session }: { session: string }) {
  const navigate = useNavigate();
  const reading = useMutation({
    mutationFn: () => startJob("memory", { session }),
    onSuccess: ({ id }) => navigate({ to: "/context/$", params: { _splat: `jobs/${id}` } }),
  });
  return (
    <div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 text-sm text-ink-soft">
        <p>
          Memories from{" "}
          <Link to="/sessions/$session" params={{ session }} className={linkClass}>
            one session
          </Link>
          .{" "}
          <ContextLink path="memory" className={linkClass}>
            Show all
          </ContextLink>
        </p>
        <Button size="small" className="ml-auto" disabled={reading.isPending} onClick={() => reading.mutate()}>
          Extract memories now
        </Button>
      </div>
      <Problem error={reading.error} className="mt-2" />
    </div>
  );
}
