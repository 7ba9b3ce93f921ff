import type { AgentSkill } from "@tandem/protocol";
import { useServerQuery } from "../../api/use-server-query.ts";
import { Choice } from "../../ui/choice.tsx";

/** The uploaded skills of an agent. A chosen skill follows its newest version; a pinned version stays. */
export function SkillChoices({
  chosen,
  onChange,
}: {
  chosen: readonly AgentSkill[];
  onChange: (skills: readonly AgentSkill[]) => void;
}) {
  const list = useServerQuery("skills.list", { query: { limit: 100, source: "custom" } });
  const skills = list.data?.data ?? [];
  const others = chosen.filter(({ skill_id }) => list.data && !skills.some(({ id }) => id === skill_id));
  const known = [
    ...skills.map(({ id, display_name }) => ({ id, label: display_name })),
    ...others.map(({ skill_id: id }) => ({ id, label: id })),
  ];
  if (known.length === 0) return null;
  return (
    <fieldset className="sm:col-span-2">
      <legend className="mb-1 text-sm text-ink-soft">Skills</legend>
      <div className="grid gap-1.5 sm:grid-cols-2">
        {known.map(({ id, label }) => {
          const own = chosen.find(({ skill_id }) => skill_id === id);
          return (
            <Choice
              key={id}
              type="checkbox"
              name={id}
              label={label}
              hint={own && own.version !== "latest" ? `Version ${own.version}` : undefined}
              isChosen={own !== undefined}
              onChoose={() =>
                onChange(
                  own
                    ? chosen.filter((other) => other !== own)
                    : [...chosen, { type: "custom", skill_id: id, version: "latest" }],
                )
              }
            />
          );
        })}
      </div>
    </fieldset>
  );
}
