// The client of the API of Ginseng, generated from its API document. Do not edit.

import type { components, paths } from './schema.js'
export type { components, paths } from './schema.js'
export {}

type Schemas = components['schemas']
type Flat<T> = { [K in keyof T]: T[K] }

/** An error response of the API (RFC 9457) or, with status 0 and code network, a request without a complete response. */
export declare class Problem extends Error {
  constructor(status: number, body: Partial<Schemas['Problem']>, requestId?: string, options?: ErrorOptions)
  readonly status: number
  /** Stable code for programs; undefined for responses of a proxy. */
  readonly code: Schemas['Problem']['code'] | 'network' | undefined
  readonly detail: string
  readonly requestId: string | undefined
  /** The invalid parameters: a list for each name. */
  readonly errors: { [parameter: string]: Schemas['ErrorField'][] | undefined }
  /** Only with code second_factor_required at sign-in. */
  readonly challenge?: string
  /** Index of the failed operation of a batch. */
  readonly operation?: number
}

/** Where a client keeps its session: localStorage, sessionStorage, or an own one, whose methods may be asynchronous. */
export interface SessionStorage {
  getItem(key: string): string | null | undefined | Promise<string | null | undefined>
  setItem(key: string, value: string): unknown
  removeItem(key: string): unknown
}

export interface ClientOptions {
  /** The address of the API, such as https://api.example.com/v1. */
  url: string
  /** Only on your own servers: the value of MASTER_KEY. It is sent with operations that require it, and no others. */
  masterKey?: string
  /** Used instead of the global fetch. */
  fetch?: typeof fetch
}

export interface TokenOptions extends ClientOptions {
  /** An API key or a user token, or a function that resolves to one. It is called for each request. */
  token: string | (() => string | undefined | Promise<string | undefined>)
  storage?: undefined
}

export interface SessionOptions extends ClientOptions {
  token?: undefined
  /** Keeps the session; by default, it ends with the page or program. */
  storage?: SessionStorage
}

/** The last argument of each method. */
export interface Options {
  /** Its abort rejects the call with the reason of the signal. */
  signal?: AbortSignal
}

/** A page of a list. */
export interface Page<T, Counted extends boolean = true> {
  rows: T[]
  /** Number of records in the whole list; with q or a filter, at most 10,000. */
  count: Counted extends true ? number : undefined
  /** True if more than count records match. */
  countCapped?: boolean
  /** The value of after for the next page; absent on the last page. */
  next?: string
}

/** The names of fields, or of fields to leave out, each with a - before it. */
type Names<T> = readonly (keyof T & string)[] | readonly `-${Exclude<keyof T & string, 'id'>}`[]

/** T with the given fields. If the names are not known to the compiler, all fields are optional. */
type Selected<T, F extends readonly string[]> = F extends readonly []
  ? T
  : number extends F['length']
    ? Partial<T> & Pick<T, 'id' & keyof T>
    : F[number] extends `-${string}`
      ? Omit<T, Unsigned<F[number]>>
      : Pick<T, (F[number] | 'id') & keyof T>
type Unsigned<N extends string> = N extends `-${infer Name}` ? Name : never

/** The property expand of a record; R has the type of each reference. */
type Expanded<R, E extends readonly (keyof R)[]> = E extends readonly []
  ? unknown
  : number extends E['length']
    ? { expand?: Partial<R> }
    : { expand: Flat<Pick<R, E[number]>> }

type Row<T, R, F extends readonly string[], E extends readonly (keyof R)[]> = Flat<Selected<T, F> & Expanded<R, E>>

/**
 * An ID or, to send its ETag as If-Match, a record that the client returned. There is no ETag in a copy of a record, in a record in expand, and
 * in a row of a resource without get.
 */
type Target = string | { readonly id: string }

interface List<T, Query, R> {
  /** Returns a page. fields narrows its rows. */
  list<const F extends Names<T> = [], const E extends readonly (keyof R)[] = [], const C extends boolean = true>(
    query?: Query & Paging & { fields?: F; expand?: E; count?: C },
    options?: Options,
  ): Promise<Page<Row<T, R, F, E>, C>>
  /** Iterates over all records. limit is the number of rows per request, 100 by default. */
  all<const F extends Names<T> = [], const E extends readonly (keyof R)[] = []>(
    query?: Query & { fields?: F; expand?: E; limit?: number },
    options?: Options,
  ): AsyncGenerator<Row<T, R, F, E>, void, undefined>
}

interface Paging {
  /** Maximum number of rows, from 1 to 100; 30 by default. */
  limit?: number
  /** The value of next in the previous page; cannot be combined with page. */
  after?: string
  /** Page number, 1 by default. */
  page?: number
}

interface Get<T, R> {
  get<const E extends readonly (keyof R)[] = []>(id: string, options?: Options & { expand?: E }): Promise<Row<T, R, [], E>>
}

interface Create<T, Fields> {
  /** Creates a record. The request is repeated only if the operation has the parameter Idempotency-Key, so that repetitions create nothing. */
  create(fields: Fields, options?: Options): Promise<T>
}

interface Update<T, Fields> {
  /** Changes the given fields. With a record that was changed meanwhile, it rejects with code precondition_failed. */
  update(target: Target, fields: Fields, options?: Options): Promise<T>
}

interface Delete {
  /** Deletes a record. With a record that was changed meanwhile, it rejects with code precondition_failed. */
  delete(target: Target, options?: Options): Promise<void>
}

export interface UploadOptions extends Options {
  /** Called with bytes during the upload, in pages unless createClient has fetch, and at least at its end. A repeated upload begins again. */
  onProgress?: (progress: { loaded: number; total: number }) => void
}

export interface LinkOptions extends Options {
  /** Seconds from 1 to 3600, 300 by default. */
  expiresIn?: number
}

/** A link to a file, which needs no token. */
export interface FileLink {
  url: string
  expiresAt: string
}

/** A field with one file. */
interface FileField<T> {
  /** Stores a file. A File also has a name. */
  upload(target: Target, file: Blob, options?: UploadOptions): Promise<T>
  link(target: Target, options?: LinkOptions): Promise<FileLink>
  delete(target: Target, options?: Options): Promise<void>
  /** Returns the address of the file, which needs the token of the caller unless everyone may read it. */
  url(target: Target): string
}

/** A field with a list of files. */
interface FileList<T> {
  /** Adds a file to the list. A File also has a name. */
  upload(target: Target, file: Blob, options?: UploadOptions): Promise<T>
  link(target: Target, file: Target, options?: LinkOptions): Promise<FileLink>
  delete(target: Target, file: Target, options?: Options): Promise<void>
  /** Returns the address of a file, which needs the token of the caller unless everyone may read it. */
  url(target: Target, file: Target): string
}

/** A change of a record: its newest version. Several updates can be one change; a record that was deleted since has only deleted. */
export type Change<T> = { event: 'created' | 'updated'; data: T } | { event: 'deleted'; data: { id: string } }

interface Follow<T, Filters> {
  /**
   * Calls onResync, which lists the records, and then onChange with each change. onResync is called again when changes are unknown, such as after
   * the restore of a backup. Each call waits for the promise of the call before it. Changes that are made during a list follow it. All tabs of a
   * browser share one connection. It continues after lost connections and expired tokens. It resolves after the abort of the signal and after
   * the sign-out. It rejects if the feed does not exist or the caller may not read it, and with the errors of the two functions. If onResync rejects with
   * a problem that passes, such as 503, it is called again.
   */
  follow(options: Filters & { onChange: (change: Change<T>) => unknown; onResync: () => unknown; signal?: AbortSignal }): Promise<void>
}

/** An operation of a batch; the fields of its result are references for later operations. */
interface BatchCreate<T, Fields> { create(fields: Fields): T }
interface BatchUpdate<T, Fields> { update(target: Target, fields: Fields): T }
interface BatchDelete { delete(target: Target): void }

/** The result of an operation of a batch. */
export interface BatchResult {
  status: number
  /** The path of a new record. */
  location?: string
  etag?: string
  /** The record; absent after a deletion. */
  body?: { [field: string]: unknown }
}

type Verb = 'get' | 'put' | 'post' | 'patch' | 'delete'
type Operation<P extends keyof paths, M extends string> = Extract<paths[P][Lowercase<M> & keyof paths[P]], { responses: unknown }>
type PathsOf<M extends string> = { [P in keyof paths]: [Operation<P, M>] extends [never] ? never : P }[keyof paths]

type Parameters<O> = O extends { parameters: infer P } ? { [K in keyof P as [Exclude<P[K], undefined>] extends [never] ? never : K]: P[K] } : never
type Credential = { header?: { Authorization?: string } }
type Params<O> = Credential & { [K in keyof Parameters<O>]: K extends 'query' ? Omit<NonNullable<Parameters<O>[K]>, 'format' | 'bom'> : Parameters<O>[K] }
type Body<O> = O extends { requestBody: { content: { 'application/json': infer B } } }
  ? { body: B }
  : O extends { requestBody?: { content: { 'application/json': infer B } } } ? { body?: B } : { body?: undefined }
type Init<O> = Options & Body<O> & ({} extends Params<O> ? { params?: Params<O> } : { params: Params<O> })
type Result<O> = O extends { responses: infer S } ? Content<S[keyof S & (200 | 201 | 202 | 204)]> : never
type Content<S> = S extends { content: infer C } ? (C extends { 'application/json': infer B } ? B : Blob) : undefined
type Exports = { [P in keyof paths]: Operation<P, 'get'> extends { parameters: { query?: { format?: string } } } ? P : never }[keyof paths]
type ExportInit<P extends keyof paths> = Options & { params: Credential & Parameters<Operation<P, 'get'>> & { query: { format: string } } }

export interface Client extends Resources {
  /**
   * Makes all writes that build calls, or none, in one step. build may be asynchronous. Resolves to the results in order. A result is a reference for
   * later operations: const order = b.orders.create({}); b.articles.update(id, { title: order.id }).
   */
  batch(build: (b: BatchResources) => unknown, options?: Options): Promise<BatchResult[]>
  /** Calls an operation of the API document. Resolves to the body of the response, a Blob if it is a file. Only GET is repeated. */
  request<M extends Verb | Uppercase<Verb>, P extends PathsOf<M>>(
    method: M, path: P, ...options: {} extends Init<Operation<P, M>> ? [Init<Operation<P, M>>?] : [Init<Operation<P, M>>]
  ): Promise<Result<Operation<P, M>>>
  /** Exports a list. */
  request<P extends Exports>(method: 'get' | 'GET', path: P, options: ExportInit<P>): Promise<string>
}

export interface SessionClient extends Client, Sessions {}

/** Creates a client that calls with a token. */
export declare function createClient(options: TokenOptions): Client
/** Creates a client that calls as the user of its session or, without one, anonymously. */
export declare function createClient(options: SessionOptions): SessionClient

/** The records of the resources, by their names. */
export interface Records {
  article: Omit<Schemas['Article'], 'expand'>
  organization: Schemas['Organization']
  policy: Schemas['Policy']
  user: Schemas['UserSeen']
}

/** The parameters of the lists. */
interface Queries {
  articles: {
    /** up to 10 words, or beginnings of words, to search for in title and content */
    q?: string
    /** equal to this value */
    userId?: string | { ne?: string; in?: readonly string[] }
    /** equal to this value */
    createdAt?: string | { gt?: string; gte?: string; lt?: string; lte?: string; ne?: string; in?: readonly string[] }
    /** the fields to sort by; a - before a name means descending order */
    sort?: readonly ('title' | '-title' | 'createdAt' | '-createdAt' | 'updatedAt' | '-updatedAt')[]
  }
  organizations: {
    /** up to 10 words, or beginnings of words, to search for in name */
    q?: string
    /** equal to this value */
    createdAt?: string | { gt?: string; gte?: string; lt?: string; lte?: string; ne?: string; in?: readonly string[] }
    /** the fields to sort by; a - before a name means descending order */
    sort?: readonly ('name' | '-name' | 'createdAt' | '-createdAt' | 'updatedAt' | '-updatedAt')[]
  }
  policies: {
    /** equal to this value */
    namespace?: string | { gt?: string; gte?: string; lt?: string; lte?: string; ne?: string; in?: readonly string[] }
    /** equal to this value */
    name?: string | { gt?: string; gte?: string; lt?: string; lte?: string; ne?: string; in?: readonly string[] }
    /** the fields to sort by; a - before a name means descending order */
    sort?: readonly ('name' | '-name' | 'createdAt' | '-createdAt')[]
  }
  users: {
    /** up to 10 words, or beginnings of words, to search for in name and email */
    q?: string
    /** equal to this value */
    email?: string | { ne?: string; in?: readonly string[] }
    /** equal to this value */
    role?: 'user' | 'admin' | { ne?: 'user' | 'admin'; in?: readonly ('user' | 'admin')[] }
    /** equal to this value */
    createdAt?: string | { gt?: string; gte?: string; lt?: string; lte?: string; ne?: string; in?: readonly string[] }
    /** equal to this value */
    emailVerified?: boolean | { ne?: boolean }
    /** equal to this value */
    suspended?: boolean | { ne?: boolean }
    /** the fields to sort by; a - before a name means descending order */
    sort?: readonly ('name' | '-name' | 'email' | '-email' | 'createdAt' | '-createdAt')[]
  }
}

/** The records that expand adds to the records of a resource; null if one does not exist, or the caller may not see it. */
interface References {
  articles: {
    userId: Records['user'] | null
  }
  organizations: {}
  policies: {}
  users: {}
}

interface Resources {
  /** Articles. */
  articles: List<Records['article'], Queries['articles'], References['articles']> & Get<Records['article'], References['articles']> & Create<Records['article'], Schemas['PostArticlesBody']> & Update<Records['article'], Schemas['PatchArticlesByIdBody']> & Delete & Follow<Records['article'], { userId?: string }>
  /** Users who own records together, with roles and invitations. */
  organizations: List<Records['organization'], Queries['organizations'], References['organizations']> & Get<Records['organization'], References['organizations']> & Create<Records['organization'], Schemas['PostOrganizationsBody']> & Update<Records['organization'], Schemas['PatchOrganizationsByIdBody']> & Delete
  /** Policies for workloads, which are selected by labels. */
  policies: List<Records['policy'], Queries['policies'], References['policies']> & Get<Records['policy'], References['policies']> & Create<Records['policy'], Schemas['PostPoliciesBody']> & Update<Records['policy'], Schemas['PatchPoliciesByIdBody']> & Delete
  /** Accounts: sign-up, profile, password, deletion. */
  users: List<Schemas['User'], Queries['users'], References['users']> & Get<Records['user'], References['users']> & Create<Schemas['User'], Schemas['PostUsersBody']> & Update<Schemas['User'], Schemas['PatchUsersByIdBody']> & Delete
}

/** The resources that a batch can write. */
interface BatchResources {
  /** Articles. */
  articles: BatchCreate<Records['article'], Schemas['PostArticlesBody']> & BatchUpdate<Records['article'], Schemas['PatchArticlesByIdBody']> & BatchDelete
}

type User = Schemas['User']

interface Sessions {
  readonly session: Session
}

/** The session of a user. Its tokens are refreshed before they expire, once for all calls and tabs. */
export interface Session {
  /** The user, as of the last sign-in or refresh; null without a session. */
  readonly user: User | null
  /** Signs in with a password. */
  signIn(proof: { email: string; password: string }, options?: Options): Promise<User>
  /** Emails a code. The challenge is for the sign-in with the code. */
  signIn(proof: { email: string }, options?: Options): Promise<{ challenge: string }>
  /** Signs in with an emailed code. */
  signIn(proof: { challenge: string; emailCode: string }, options?: Options): Promise<User>
  /** Signs in with a provider: with the fields that POST /auth/{provider} requires. */
  signIn(proof: { provider: string } & Schemas['PostAuthByProviderBody'], options?: Options): Promise<User>
  /** Signs in with a passkey, in a page. Also rejects with the errors of navigator.credentials.get. */
  signIn(proof: { passkey: true; mediation?: CredentialMediationRequirement }, options?: Options): Promise<User>
  /** Completes a sign-in that was rejected with code second_factor_required, with the challenge of the Problem. */
  signIn(proof: { challenge: string; code: string } | { challenge: string; recovery_code: string }, options?: Options): Promise<User>
  /** Creates a user, and signs in. */
  signUp(fields: Schemas['PostUsersBody'], options?: Options): Promise<User>
  /** Ends the session. It ends here also if the call rejects. */
  signOut(options?: Options): Promise<void>
  /** Calls the listener when the user changes, also in another tab. Returns a function that removes the listener. */
  onChange(listener: (user: User | null) => void): () => void
}
