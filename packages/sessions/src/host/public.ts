/**
 * The public members of a class. The client of a running server, and fakes in tests, cannot have the type of a class with private
 * fields.
 */
export type Public<Class> = Pick<Class, keyof Class>;
