import type { z } from "zod";

/**
 * A schema that describes less than the type of its values. For events: the engine writes them and a log may hold those of
 * a newer version, so the schema checks their outline and the type is TypeScript's.
 */
export const typed = <T>(outline: z.ZodType): z.ZodType<T> => outline as z.ZodType<T>;
