import type { EvalArm } from "@tandem/protocol";
import type { SearchView } from "../search/context-search.ts";
import type { SearchKind } from "../search/documents.ts";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import type { ContextTool } from "../context-tool.ts";
import { kindsOf } from "./arm-tools.ts";
import type { AskedQuestion } from "./load-evals.ts";
import { plantedSearch } from "./planted-search.ts";

/** A context as the questions are asked of it: the one that is served, or the same with a proposal. */
export interface EvalContext {
  catalogue: CatalogueReader;
  /** A search that finds these kinds only. */
  search(kinds?: readonly SearchKind[]): SearchView;
  /** The context's tools over a search. With `asOf`, "today" is that day. */
  tools(search: SearchView, asOf?: string): readonly ContextTool[];
}

/** The tools of an arm for a question, which may have a planted passage. */
export function toolsOf(context: EvalContext, arm: EvalArm, { file, question }: AskedQuestion): readonly ContextTool[] {
  const search = context.search(kindsOf(arm));
  const { planted } = question;
  const shown = arm === "planted" && planted !== undefined ? plantedSearch(search, planted) : search;
  return context.tools(shown, file.asOf);
}
