import type { Skill } from "@tandem/protocol";
import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";
import { useServerQuery } from "../../api/use-server-query.ts";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { AddButton } from "../add-button.tsx";
import { Badge, ListPanel, PageHead } from "../panel.tsx";
import { SkillDetails } from "./skill-details.tsx";
import { UploadSkill } from "./upload-skill.tsx";
import { TimeAgo } from "../../ui/time-ago.tsx";

const MOST = 1_000;

/** Skills of agents: uploaded ones and those of trusted folders. */
export default function SkillsPage() {
  const list = useServerQuery("skills.list", { query: { limit: MOST } });
  const [isUploading, setUploading] = useState(false);
  const [open, setOpen] = useState<string>();
  return (
    <>
      <PageHead title="Skills" action={<AddButton onClick={() => setUploading(true)}>Upload skill</AddButton>}>
        Folders with instructions that agents read when they need them. New versions reach new sessions.
      </PageHead>
      <Problem error={list.error} onRetry={() => void list.refetch()} className="mb-4" />
      <ListPanel
        items={list.data?.data}
        note={list.data?.next_page ? `Only the newest ${MOST} are shown.` : undefined}
        empty={<Empty title="No skills yet">Upload a folder with a SKILL.md, then name the skill in an agent.</Empty>}
      >
        {(skill) => (
          <SkillRow
            key={skill.id}
            skill={skill}
            isOpen={open === skill.id}
            onToggle={() => setOpen(open === skill.id ? undefined : skill.id)}
          />
        )}
      </ListPanel>
      {isUploading && <UploadSkill onClose={() => setUploading(false)} />}
    </>
  );
}

function SkillRow({ skill, isOpen, onToggle }: { skill: Skill; isOpen: boolean; onToggle: () => void }) {
  const Chevron = isOpen ? ChevronDown : ChevronRight;
  return (
    <li className="px-3 py-2">
      <button
        type="button"
        aria-expanded={isOpen}
        className="flex min-h-9 w-full flex-wrap items-center gap-x-3 gap-y-1 text-left"
        onClick={onToggle}
      >
        <Chevron aria-hidden className="size-4 shrink-0 text-ink-faint" />
        <span className="min-w-32 flex-1 font-medium break-words">{skill.display_name}</span>
        {skill.source.type === "plugin" && <Badge>trusted folder</Badge>}
        <TimeAgo at={skill.updated_at} className="text-sm text-ink-faint" />
      </button>
      {isOpen && <SkillDetails skill={skill} />}
    </li>
  );
}
