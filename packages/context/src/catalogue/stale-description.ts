import type { ColumnEntry } from "./table-file.ts";

/** The column that a model described, as text. */
export const describedColumn = ({ name, type }: Pick<ColumnEntry, "name" | "type">): string => `${name} ${type}`.trim();

/**
 * Whether the model's text describes a column that has since been renamed or has another type. The column's name may be
 * accepted before its new text is reviewed.
 */
export const isStale = ({ name, type, descriptions }: ColumnEntry): boolean =>
  descriptions?.ai !== undefined &&
  !descriptions.human?.trim() &&
  descriptions.aiFor !== undefined &&
  descriptions.aiFor !== describedColumn({ name, type });
