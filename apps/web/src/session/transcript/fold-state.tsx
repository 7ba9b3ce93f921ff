import { createContext, type ReactNode, use, useState } from "react";

const Folds = createContext(new Map<string, boolean>());

/** Remembers opened and closed rows. Virtual scrolling unmounts rows, so they cannot keep it themselves. */
export function FoldStateProvider({ children }: { children: ReactNode }) {
  const [folds] = useState(() => new Map<string, boolean>());
  return <Folds value={folds}>{children}</Folds>;
}

export function useFold(id: string, isOpenAtFirst: boolean): [isOpen: boolean, toggle: () => void] {
  const folds = use(Folds);
  const [own, setOwn] = useState(() => folds.get(id));
  const isOpen = own ?? isOpenAtFirst;
  const toggle = (): void => {
    folds.set(id, !isOpen);
    setOwn(!isOpen);
  };
  return [isOpen, toggle];
}
