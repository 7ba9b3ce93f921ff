/** A page sorted by creation time and id; `next` and `previous` are cursors, or null at the ends. */
export interface Page<T> {
  data: T[];
  next: string | null;
  previous: string | null;
}

/** A foreign or invalid cursor is `RequestError("invalid_request")` with a fix. */
export interface PageQuery {
  limit: number;
  cursor?: string;
  order?: "asc" | "desc";
  includeArchived?: boolean;
  created?: { gt?: string; gte?: string; lt?: string; lte?: string };
}
