// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of commands, and the way from words to one of them.
 */
#include "cmd.h"

#include <string.h>

#include "err.h"
#include "interrupt.h"
#include "progress.h"

#define A_SERVICE(attr)	CTL_BIT(CHS_A_SERVICE_##attr)
#define A_BACKEND(attr)	CTL_BIT(CHS_A_BACKEND_##attr)

/* All are sent, also those that cannot be set: the kernel says which. */
#define SERVICE_OPTIONS	UINT32_MAX

static const struct ctl_flag force[] = { { "--force", CHS_FLAG_FORCE, NULL }, {} };
static const struct ctl_flag if_exists[] = { { "--if-exists", CHS_FLAG_IF_EXISTS, NULL }, {} };
static const struct ctl_flag expect[] = { { "--expect", CTL_FLAG_EXPECT, "HEX" }, {} };
static const struct ctl_flag plan_flags[] = {
	{ "--max-move", CTL_FLAG_MAX_MOVE, "PERCENT" },
	{ "--plot", CTL_FLAG_PLOT, "FILE" },
	{}
};
static const struct ctl_flag apply_flags[] = {
	{ "--max-move", CTL_FLAG_MAX_MOVE, "PERCENT" },
	{ "--allow-empty", CTL_FLAG_ALLOW_EMPTY, NULL },
	{ "--replace", CHS_FLAG_RECREATE, NULL },
	{}
};

const struct ctl_cmd ctl_cmds[] = {
	{
		.object = "service", .verb = "show", .run = ctl_service_show,
		.usage = "[NAME]",
		.help = "services and their options",
		.max = 1, .first = CTL_FIRST_SERVICE,
	}, {
		.object = "service", .verb = "add", .build = ctl_service_add,
		.usage = "[--force] NAME PROTO ENDPOINT [OPTION VALUE]...",
		.help = "add a service",
		.flags = force, .min = 3, .max = -1,
		.keywords = ctl_service_keywords, .allowed = SERVICE_OPTIONS,
		.first = CTL_FIRST_PROTO,
	}, {
		.object = "service", .verb = "set", .build = ctl_service_set,
		.usage = "NAME OPTION VALUE...",
		.help = "change options of a service",
		.min = 1, .max = -1,
		.keywords = ctl_service_keywords, .allowed = SERVICE_OPTIONS,
		.first = CTL_FIRST_SERVICE,
	}, {
		.object = "service", .verb = "del", .build = ctl_service_del,
		.usage = "[--if-exists] NAME",
		.help = "remove a service with its backends",
		.flags = if_exists, .min = 1, .max = 1, .first = CTL_FIRST_SERVICE,
	}, {
		.object = "backend", .verb = "show", .run = ctl_backend_show,
		.usage = "[SERVICE]",
		.help = "backends, their state and their traffic",
		.max = 1, .first = CTL_FIRST_SERVICE,
	}, {
		.object = "backend", .verb = "add", .build = ctl_backend_add,
		.usage = "SERVICE ENDPOINT... [weight W] [state S] [deadline SECONDS [delete]] [zone Z]",
		.help = "add backends to a service",
		.min = 2, .max = -1,
		.keywords = ctl_backend_keywords, .allowed = UINT32_MAX,
		.first = CTL_FIRST_SERVICE,
	}, {
		.object = "backend", .verb = "replace", .build = ctl_backend_replace,
		.usage = "SERVICE ENDPOINT... [weight W] [state S] [deadline SECONDS [delete]] [zone Z]",
		.help = "add backends, or make those there equal to what is said",
		.min = 2, .max = -1,
		.keywords = ctl_backend_keywords, .allowed = UINT32_MAX,
		.first = CTL_FIRST_BACKENDS,
	}, {
		.object = "backend", .verb = "set", .build = ctl_backend_set,
		.usage = "SERVICE|'*' ENDPOINT... [weight W] [state S] [zone Z]",
		.help = "change backends, of one service or of all",
		.min = 2, .max = -1, .keywords = ctl_backend_keywords,
		.allowed = A_BACKEND(WEIGHT) | A_BACKEND(STATE) | A_BACKEND(ZONE),
		.first = CTL_FIRST_BACKENDS,
	}, {
		.object = "backend", .verb = "drain", .build = ctl_backend_drain,
		.usage = "SERVICE|'*' ENDPOINT... [deadline SECONDS] [delete]",
		.help = "give backends no new flows, and end the old ones by a deadline",
		.min = 2, .max = -1, .keywords = ctl_backend_keywords,
		.allowed = A_BACKEND(DEADLINE) | A_BACKEND(DELETE),
		.first = CTL_FIRST_BACKENDS,
	}, {
		.object = "backend", .verb = "del", .build = ctl_backend_del,
		.usage = "[--if-exists] SERVICE|'*' ENDPOINT...",
		.help = "remove backends at once",
		.flags = if_exists, .min = 2, .max = -1, .first = CTL_FIRST_BACKENDS,
	}, {
		.object = "ring", .verb = "show", .run = ctl_ring_show,
		.usage = "[SERVICE]",
		.help = "shares: what they should be and what they are",
		.max = 1, .first = CTL_FIRST_SERVICE,
	}, {
		.object = "ring", .verb = "dump", .run = ctl_ring_dump,
		.usage = "SERVICE",
		.help = "owner of every arc",
		.min = 1, .max = 1, .first = CTL_FIRST_SERVICE,
	}, {
		.object = "ring", .verb = "digest", .run = ctl_ring_digest,
		.usage = "[--expect HEX] [SERVICE]",
		.help = "digests, equal on hosts that steer alike",
		.flags = expect, .max = 1, .first = CTL_FIRST_SERVICE,
	}, {
		.object = "ring", .verb = "wait", .run = ctl_ring_wait,
		.usage = "SERVICE [SECONDS]",
		.help = "wait until every arc is settled",
		.min = 1, .max = 2, .first = CTL_FIRST_SERVICE,
	}, {
		.object = "ring", .verb = "plot", .run = ctl_ring_plot,
		.usage = "SERVICE",
		.help = "a picture of the ring and of its shares, SVG",
		.min = 1, .max = 1, .first = CTL_FIRST_SERVICE,
	}, {
		.object = "lookup", .run = ctl_lookup,
		.usage = "PROTO SRC:PORT DST:PORT [established] [vrf NAME] [zone N]",
		.help = "where a packet would go, asked of the packet path itself",
		.min = 3, .max = -1,
		.keywords = ctl_lookup_keywords, .allowed = UINT32_MAX,
		.first = CTL_FIRST_PROTO,
	}, {
		.object = "plan", .run = ctl_plan,
		.usage = "[--max-move PERCENT] [--plot FILE] COMMAND...",
		.help = "what a command would move; changes nothing",
		.flags = plan_flags, .min = 1, .max = -1, .inner = true,
	}, {
		/* Before the one without a verb, which any word would lead to. */
		.object = "simulate", .verb = "failures", .run = ctl_failures,
		.usage = "SERVICE|FILE [service NAME]",
		.help = "what survivors get when any one or two backends fail",
		.min = 1, .max = -1,
		.keywords = ctl_failures_keywords, .allowed = UINT32_MAX,
		.first = CTL_FIRST_SERVICE,
	}, {
		.object = "simulate", .run = ctl_simulate,
		.usage = "[backends N | FILE [service NAME]] [weights W,W,...] [event remove|add|weight] [points P] [unit U] [slots S] [balance B]",
		.help = "the ring beside other schemes: how even, what moves, what it costs",
		.max = -1,
		.keywords = ctl_simulate_keywords, .allowed = UINT32_MAX,
		.first = CTL_FIRST_OPTION,
	}, {
		.object = "flow", .verb = "show", .run = ctl_flow_show,
		.usage = "[SERVICE]",
		.help = "flows that are remembered",
		.max = 1, .first = CTL_FIRST_SERVICE,
	}, {
		.object = "flow", .verb = "flush", .build = ctl_flow_flush,
		.usage = "SERVICE|all",
		.help = "forget the flows of a service, or of all",
		.min = 1, .max = 1, .first = CTL_FIRST_SERVICE_OR_ALL,
	}, {
		.object = "stats", .run = ctl_stats,
		.usage = "[SERVICE]",
		.help = "counters of services",
		.max = 1, .first = CTL_FIRST_SERVICE,
	}, {
		.object = "save", .run = ctl_save,
		.usage = "[FILE]",
		.help = "write the configuration",
		.max = 1, .first = CTL_FIRST_FILE,
	}, {
		.object = "apply", .run = ctl_apply,
		.usage = "[--max-move PERCENT] [--allow-empty] [--replace] FILE|-",
		.help = "make the configuration equal to a file, all or nothing",
		.flags = apply_flags, .min = 1, .max = 1, .first = CTL_FIRST_FILE,
	}, {
		.object = "flush", .build = ctl_flush,
		.usage = "",
		.help = "remove every service of the namespace, its backends and flows",
	},
	{}
};

/**
 * ctl_cmd_find() - find a command
 * @object: its object
 * @verb: its verb; ignored for a command without one
 *
 * Return: the command or NULL.
 */
const struct ctl_cmd *ctl_cmd_find(const char *object, const char *verb)
{
	const struct ctl_cmd *cmd;

	for (cmd = ctl_cmds; cmd->object; cmd++) {
		if (!strcmp(cmd->object, object) &&
		    (!cmd->verb || (verb && !strcmp(cmd->verb, verb))))
			return cmd;
	}
	return NULL;
}

/**
 * ctl_cmd_is_change() - tell if a command changes services or backends
 * @cmd: command
 *
 * Return: true if so.
 */
bool ctl_cmd_is_change(const struct ctl_cmd *cmd)
{
	return cmd->run == ctl_apply || (cmd->build && cmd->build != ctl_flow_flush);
}

static bool is_object(const char *word)
{
	const struct ctl_cmd *cmd;

	for (cmd = ctl_cmds; cmd->object; cmd++) {
		if (!strcmp(cmd->object, word))
			return true;
	}
	return false;
}

/* An option in the place of an argument is never meant as one. */
static bool is_option(const char *word)
{
	static const char *const options[] = {
		"-j", "-p", "-n", "-b", "-V",
		"--json", "--pretty", "--netns", "--batch", "--version", NULL
	};
	int i;

	for (i = 0; options[i]; i++) {
		if (!strcmp(options[i], word))
			return true;
	}
	return false;
}

static int no_such_command(const char *object, const char *verb)
{
	if (is_option(object) || is_option(verb))
		return ctl_usage("'%s': options go before the object (chctl help)",
				 is_option(object) ? object : verb);
	if (!is_object(object))
		return ctl_usage("'%s': no such object (chctl help)", object);
	return ctl_usage("%s '%s': no such command (chctl %s help)", object, verb, object);
}

static const struct ctl_flag *find_flag(const struct ctl_flag *flag, const char *word)
{
	for (; flag && flag->name; flag++) {
		if (!strcmp(flag->name, word))
			return flag;
	}
	return NULL;
}

/*
 * Take the flags out of the words; "--" ends them. What stands behind the first
 * word of a command within this one may be a flag of that, and is left to it.
 */
static int take_flags(struct ctl_args *args)
{
	char **from = args->argv, **to = args->argv;
	const struct ctl_flag *flag;
	bool ended = false;

	for (; *from; from++) {
		if (!ended && is_option(*from))
			return ctl_usage("'%s': options go before the object", *from);
		if (ended || strncmp(*from, "--", 2)) {
			*to++ = *from;
			continue;
		}
		flag = find_flag(args->cmd->flags, *from);
		if (!flag && args->cmd->inner && to != args->argv) {
			ended = !strcmp(*from, "--");
			*to++ = *from;
			continue;
		}
		if (!strcmp(*from, "--")) {
			ended = true;
			continue;
		}
		if (!flag)
			return ctl_usage("'%s': not a flag of this command", *from);
		if (args->flags & flag->bits)
			return ctl_usage("%s: given twice", flag->name);
		args->flags |= flag->bits;
		if (flag->value && !*++from)
			return ctl_usage("%s: %s missing", flag->name, flag->value);
		if (flag->value)
			args->values[flag - args->cmd->flags] = *from;
	}

	*to = NULL;
	args->argc = to - args->argv;
	return CTL_OK;
}

static int check_words(const struct ctl_args *args)
{
	const struct ctl_cmd *cmd = args->cmd;
	int i;

	if (args->argc < cmd->min)
		return ctl_usage("%s missing: chctl %s %s%s%s",
				 cmd->min - args->argc > 1 ? "arguments" : "argument",
				 cmd->object, cmd->verb ? cmd->verb : "",
				 cmd->verb ? " " : "", cmd->usage);
	if (cmd->max >= 0 && args->argc > cmd->max)
		return ctl_usage("'%s': one argument too many", args->argv[cmd->max]);

	for (i = 0; i < args->argc; i++) {
		if (strlen(args->argv[i]) > CTL_NAME_MAX)
			return ctl_usage("'%.20s...': %zu characters, too long for anything",
					 args->argv[i], strlen(args->argv[i]));
	}
	return CTL_OK;
}

/**
 * ctl_cmd_parse() - find the command that words name, and its arguments
 * @words: the words, NULL-ended; reordered
 * @args: where the result goes, zeroed by the caller
 *
 * Return: CTL_OK or CTL_USAGE.
 */
int ctl_cmd_parse(char **words, struct ctl_args *args)
{
	static const char *show = "show";
	const char *verb = words[1] ? words[1] : show;
	int ret;

	args->cmd = ctl_cmd_find(words[0], verb);
	if (!args->cmd)
		return no_such_command(words[0], verb);

	args->argv = words + 1 + (args->cmd->verb && words[1]);
	ret = take_flags(args);
	if (!ret)
		ret = check_words(args);
	return ret;
}

/**
 * ctl_cmd_request() - start the request of a command
 * @args: its arguments
 * @cmd: netlink command
 * @room: bytes that the attributes take at most, names included
 *
 * Return: the request, with its flags, or NULL with an error recorded.
 */
struct nl_msg *ctl_cmd_request(const struct ctl_args *args, uint8_t cmd, size_t room)
{
	struct nl_msg *msg = ctl_nl_msg(cmd, CTL_SERVICE_ROOM + room);

	if (!msg)
		return NULL;
	/* First, where ctl_apply() finds it. */
	if ((args->txn && ctl_put_txn(msg)) || ctl_put_flags(msg, args->flags)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

/**
 * ctl_cmd_exec() - run a command
 * @words: its words, NULL-ended; reordered
 *
 * Return: exit status; not CTL_OK with an error recorded.
 */
int ctl_cmd_exec(char **words)
{
	struct ctl_args args = {};
	struct nl_msg *msg = NULL;
	int ret;

	if (!words[0])
		return ctl_show_all();
	if (ctl_is_help(words[0]) || (words[1] && ctl_is_help(words[1])) ||
	    (words[1] && words[2] && !words[3] && ctl_is_help(words[2])))
		return ctl_help(words);

	ret = ctl_cmd_parse(words, &args);
	if (ret || !args.cmd)
		return ret;
	if (args.cmd->run)
		return args.cmd->run(&args);

	ret = args.cmd->build(&args, &msg);
	if (ret)
		return ret;
	ctl_interrupt_hold();
	ctl_progress_begin("waiting for the kernel");
	ret = ctl_nl_do(msg, NULL, NULL);
	ctl_progress_end();
	return ctl_interrupt_release(ret);
}
