import { Plus } from "lucide-react";
import { Button } from "../ui/button.tsx";

/** The main action of a settings page that adds an entry to its list. */
export function AddButton({ children, onClick }: { children: string; onClick: () => void }) {
  return (
    <Button look="primary" icon={<Plus aria-hidden className="size-4" />} onClick={onClick}>
      {children}
    </Button>
  );
}
