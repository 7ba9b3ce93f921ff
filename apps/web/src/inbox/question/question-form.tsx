import type { Question } from "@tandem/protocol";
import { type FormEvent, type RefObject, useId, useState } from "react";
import { Markdown } from "../../text/markdown.tsx";
import { Button } from "../../ui/button.tsx";
import { inputClass } from "../../ui/field.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import type { Answer } from "../approvals-api.ts";
import { CardKeys } from "../card-keys.tsx";
import { Choice } from "../../ui/choice.tsx";
import { DenyPanel } from "../answer/deny-panel.tsx";
import { answersOf, type QuestionAnswer, choose, NO_CHOICE, write } from "./question-answers.ts";

/** Questions of the agent. Digit keys choose in the first unanswered question. */
export function QuestionForm({
  questions,
  card,
  hasKeys,
  isBusy,
  onAnswer,
}: {
  questions: readonly Question[];
  card: RefObject<HTMLElement | null>;
  hasKeys: boolean;
  isBusy: boolean;
  onAnswer: (answer: Answer) => void;
}) {
  const [choices, setChoices] = useState<readonly QuestionAnswer[]>(() => questions.map(() => NO_CHOICE));
  const [isLeaving, setLeaving] = useState(false);
  const [current, setCurrent] = useState(0);
  const answers = answersOf(questions, choices);
  const set = (index: number, choice: QuestionAnswer): void => {
    setChoices(choices.map((other, at) => (at === index ? choice : other)));
  };
  const pick = (index: number, label: string): void => {
    const question = questions[index]!;
    set(index, choose(choices[index]!, label, question));
    if (!question.multiSelect && index < questions.length - 1) setCurrent(index + 1);
    else setCurrent(index);
  };
  const send = (): void => {
    if (answers) onAnswer({ result: "allow", input: { answers } });
  };
  if (isLeaving)
    return <DenyPanel kind="question" isBusy={isBusy} onAnswer={onAnswer} onClose={() => setLeaving(false)} />;
  const digits = Object.fromEntries(
    (questions[current]?.options ?? [])
      .slice(0, 9)
      .map(({ label }, index) => [String(index + 1), [`Choose: ${label}`, () => pick(current, label)] as const]),
  );
  return (
    <form
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        send();
      }}
      className="space-y-4"
    >
      {hasKeys && (
        <CardKeys
          card={card}
          title="This question"
          isOff={isBusy}
          keys={{
            ...digits,
            ...(questions.length > 1 && {
              n: ["Next question", () => setCurrent((current + 1) % questions.length)] as const,
            }),
            "mod+enter": ["Send the answers", send],
            d: ["Skip", () => setLeaving(true)],
          }}
        />
      )}
      {questions.map((question, index) => (
        <QuestionFields
          key={question.question}
          question={question}
          choice={choices[index]!}
          hasDigits={hasKeys && index === current}
          onPick={(label) => pick(index, label)}
          onWrite={(words) => {
            setCurrent(index);
            set(index, write(choices[index]!, words, question));
          }}
        />
      ))}
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" look="primary" disabled={isBusy || answers === undefined}>
          Send {hasKeys && <Kbd keys="mod+enter" />}
        </Button>
        {answers === undefined && questions.length > 1 && (
          <span className="text-xs text-ink-faint">
            {choices.filter((choice) => choice.labels.length > 0 || choice.words.trim() !== "").length} of{" "}
            {questions.length} answered
          </span>
        )}
        <Button look="quiet" disabled={isBusy} onClick={() => setLeaving(true)} className="ml-auto">
          Skip … {hasKeys && <Kbd keys="d" />}
        </Button>
      </div>
    </form>
  );
}

function QuestionFields({
  question: { question, header, options, multiSelect },
  choice,
  hasDigits,
  onPick,
  onWrite,
}: {
  question: Question;
  choice: QuestionAnswer;
  hasDigits: boolean;
  onPick: (label: string) => void;
  onWrite: (words: string) => void;
}) {
  const name = useId();
  const preview = options.find(({ label, preview: shown }) => choice.labels.includes(label) && shown)?.preview;
  return (
    <fieldset>
      <legend className="mb-1.5 font-medium">
        {header && <span className="mr-2 rounded bg-raised px-1.5 py-0.5 text-xs text-ink-soft">{header}</span>}
        {question}
        {multiSelect && <span className="ml-2 text-xs font-normal text-ink-faint">select all that apply</span>}
      </legend>
      <div className="space-y-1">
        {options.map(({ label, description }, index) => (
          <Choice
            key={label}
            type={multiSelect ? "checkbox" : "radio"}
            name={name}
            label={label}
            hint={description}
            isChosen={choice.labels.includes(label)}
            onChoose={() => onPick(label)}
          >
            {hasDigits && index < 9 && (
              <span className="text-ink-faint">
                <Kbd keys={String(index + 1)} />
              </span>
            )}
          </Choice>
        ))}
        <input
          aria-label={`${question} Other answer`}
          placeholder={options.length > 0 ? "Or type an answer" : "Type an answer"}
          value={choice.words}
          onChange={(event) => onWrite(event.target.value)}
          className={inputClass}
          autoComplete="off"
        />
      </div>
      {preview !== undefined && (
        <div className="mt-2 rounded-md border border-line bg-ground px-3 py-2">
          <Markdown text={preview} />
        </div>
      )}
    </fieldset>
  );
}
