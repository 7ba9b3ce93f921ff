import { useMutation } from "@tanstack/react-query";
import { Link, useLocation, useNavigate } from "@tanstack/react-router";
import { Check } from "lucide-react";
import type { ReactNode } from "react";
import { api } from "../api/client.ts";
import { useAgents } from "../api/lists.ts";
import { feed } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";
import { Button, buttonClass } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { skipTour, startTour, tour } from "./tour-state.ts";
import { currentStep, STEPS, type Step } from "./tour-steps.ts";
import { useTourFacts } from "./use-tour-facts.ts";

const TEXTS: Readonly<Record<Step, { title: string; text: string }>> = {
  approve: {
    title: "Approve an edit",
    text: "The agent wants to change one line. Nothing changes until you choose Allow once.",
  },
  diff: { title: "See the diff", text: "Changes shows every file that the agent changed, turn by turn." },
  rewind: {
    title: "Rewind it",
    text: "Choose Rewind in Changes. It restores files and conversation, and you can undo it.",
  },
  ask: {
    title: "Ask the context",
    text: "Agents look up reviewed tables, joins and wiki pages, and name their sources.",
  },
};

const EDIT_PROMPT = "Raise the free-shipping limit to 60 €.";
const CONTEXT_PROMPT = "What does the wiki say about active customers?";

/** The current step of the tour, with the button that leads to it. */
export default function TourStrip({ onLogin }: { onLogin: () => void }) {
  const facts = useTourFacts();
  const step = currentStep(facts);
  const index = step === undefined ? STEPS.length : STEPS.indexOf(step);
  const start = useStartSession();
  return (
    <>
      <Dots done={index} />
      <output className="min-w-0 flex-1 basis-60 max-md:order-1 max-md:basis-full">
        {step === undefined ? (
          <>
            <strong className="font-semibold">Tour complete.</strong>{" "}
            <span className="text-ink-soft">Everything here is yours to try. Next: your own project.</span>
          </>
        ) : (
          <>
            <span className="sr-only">{`Tour, step ${index + 1} of ${STEPS.length}: `}</span>
            <strong className="font-semibold">{TEXTS[step].title}.</strong>{" "}
            <span className="text-ink-soft">{TEXTS[step].text}</span>
          </>
        )}
      </output>
      <Problem error={start.error} />
      <div className="flex flex-wrap items-center gap-1 max-md:order-2 max-md:w-full">
        {step !== undefined && (
          <StepAction step={step} session={facts.approved} isStarting={start.isPending} onStart={start.mutate} />
        )}
        {step === undefined && (
          <Button look="primary" size="small" onClick={onLogin}>
            Use my Claude login
          </Button>
        )}
        <Button look="quiet" size="small" onClick={step === undefined ? startTour : skipTour}>
          {step === undefined ? "Restart tour" : "Skip tour"}
        </Button>
        {step === undefined && (
          <Button look="quiet" size="small" onClick={skipTour}>
            Close
          </Button>
        )}
      </div>
    </>
  );
}

function StepAction({
  step,
  session,
  isStarting,
  onStart,
}: {
  step: Step;
  session: string | undefined;
  isStarting: boolean;
  onStart: (request: { step: Step; prompt: string }) => void;
}) {
  const { pathname, search } = useLocation();
  const waiting = useWaitingEdit();
  const startButton = (label: string, prompt: string): ReactNode => (
    <Button look="primary" size="small" disabled={isStarting} onClick={() => onStart({ step, prompt })}>
      {label}
    </Button>
  );
  switch (step) {
    case "approve":
      if (waiting === undefined) return startButton("Ask for an edit", EDIT_PROMPT);
      return pathname === `/sessions/${waiting}` ? null : <SessionLink session={waiting} label="Open the session" />;
    case "diff":
      return <SessionLink session={session!} label="Open Changes" view="changes" />;
    case "rewind":
      if (pathname === `/sessions/${session}` && search.view === "changes") return null;
      return <SessionLink session={session!} label="Open Changes" view="changes" />;
    case "ask":
      return startButton("Ask the context", CONTEXT_PROMPT);
  }
}

function SessionLink({ session, label, view }: { session: string; label: string; view?: "changes" }) {
  return (
    <Link
      to="/sessions/$session"
      params={{ session }}
      search={view === undefined ? {} : { view }}
      className={buttonClass("primary", "small")}
    >
      {label}
    </Link>
  );
}

function Dots({ done }: { done: number }) {
  return (
    <span aria-hidden className="flex items-center gap-1">
      {STEPS.map((step, index) => (
        <span
          key={step}
          className={`grid size-4 place-items-center rounded-full text-[0.625rem] leading-none font-semibold tabular-nums ${index < done ? "bg-good text-surface" : index === done ? "bg-accent text-on-accent" : "bg-raised text-ink-faint"}`}
        >
          {index < done ? <Check className="size-3" /> : index + 1}
        </span>
      ))}
    </span>
  );
}

/** The session that waits for the approval of an edit. */
function useWaitingEdit(): string | undefined {
  const sessions = useLive(feed.sessions);
  return [...sessions.values()].find(({ waiting_for }) =>
    waiting_for.some(({ name }) => name === "Edit" || name === "Write"),
  )?.id;
}

/** Starts a session for a step and opens it. */
function useStartSession() {
  const navigate = useNavigate();
  const agents = useAgents();
  return useMutation({
    mutationFn: async ({ prompt }: { step: Step; prompt: string }) => {
      const agent = agents.data?.find(({ name }) => name === "Mechanic") ?? agents.data?.[0];
      return api.call("sessions.create", {
        body: {
          agent: agent?.id ?? "",
          environment_id: "env_local",
          title: prompt,
          initial_events: [{ type: "user.message", content: [{ type: "text", text: prompt }] }],
        },
      });
    },
    onSuccess: ({ id }, { step }) => {
      if (step === "ask") tour.set({ ...tour.current, asked: id });
      void navigate({ to: "/sessions/$session", params: { session: id } });
    },
  });
}
