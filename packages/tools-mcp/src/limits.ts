/** The maximum size of one message: larger than any answer that a person or a model reads. */
export const MAX_MESSAGE_BYTES = 8_000_000

/** The maximum number of pages of a tool list. */
export const MAX_PAGES = 50

/** The maximum number of tools of one server. */
export const MAX_TOOLS = 1_000

/**
 * The maximum number of pinned tools of one server, including tools that it no longer lists: a tool that returns is compared with its pin.
 */
export const MAX_PINNED_TOOLS = 5_000

/** The maximum length of a description, as models and people see it. */
export const MAX_DESCRIPTION_CHARACTERS = 4_000

/** The maximum size of the definition of one tool. */
export const MAX_DEFINITION_BYTES = 100_000

/** The maximum size of all definitions of a server. */
export const MAX_DEFINITIONS_BYTES = 5_000_000

/** The maximum length of the id that a server gives to a task. */
export const MAX_TASK_ID_CHARACTERS = 1_000

/** The maximum length of text in the result of a call. */
export const MAX_TEXT_CHARACTERS = 200_000

/** The maximum number of images, sounds, files and embedded texts in the result of a call. */
export const MAX_MEDIA = 20

/** The maximum size of the whole result of a call as JSON. It is below the limit of the gate. */
export const MAX_RESULT_BYTES = 900_000
