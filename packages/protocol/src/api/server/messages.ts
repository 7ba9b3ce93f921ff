import { z } from "zod";

/** Only the fields that Tandem reads. The backend validates all of them. */
const messagesBody = z.looseObject({
  model: z.string().min(1).describe("Passed on unchanged; the aliases sonnet, opus and haiku are resolved."),
  messages: z.array(z.unknown()),
});

export const messagesApi = {
  "messages.create": {
    passed: messagesBody.extend({
      max_tokens: z.int().min(0).optional().describe("Also the upper bound of the budget reservation."),
      stream: z.boolean().optional(),
    }),
    answer: z.looseObject({ id: z.string(), type: z.literal("message") }),
  },
  "messages.countTokens": {
    passed: messagesBody,
    answer: z.looseObject({ input_tokens: z.int() }),
  },
};
