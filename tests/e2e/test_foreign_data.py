"""A data directory that somebody else could have prepared is refused: whose it is, who can write to it, and
links in it. Nothing outside of it is changed, and the sentence says what to do."""

import os
import shutil
import sqlite3
import subprocess
import unittest

from helpers import AS_NOBODY, LIMIT_S, TACHO, Case, environment, needs_other_user, needs_root
from server import Server

SIDE_BY_SIDE = True

NOBODY = 65534
# What the server opens in its data directory.
FILES = ("tacho.db", "tacho.db-wal", "tacho.db-shm", "admin-token", "server.lock", "reserve")
FOLDERS = ("raw", "spill", "upload", "tokens", "lost")


class Foreign(Case):
    def setUp(self):
        super().setUp()
        self.data = self.path("store")
        os.mkdir(self.data, 0o700)

    def inside(self, name):
        return os.path.join(self.data, name)

    def refused(self, *words, command=("serve", "--listen", "127.0.0.1:0"), before=(), data=None):
        """It ends with status 1 and one sentence."""
        result = subprocess.run([*before, TACHO, *command, "--data", data or self.data], text=True,
                                env=environment(self.home), capture_output=True, timeout=LIMIT_S)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertEqual(result.stdout, "")
        self.assertOneSentence(result.stderr)
        for word in (*words, "--data DIR"):
            self.assertIn(word, result.stderr)

    def plant(self, make, name):
        """Instead of what the server may have made before it refused."""
        if os.path.lexists(self.inside(name)):
            os.unlink(self.inside(name))
        make(self.inside(name))

    def serves(self, **more):
        with Server(data=self.data, **more) as server:
            self.assertEqual(server.get("sessions")["sessions"], [])

    def used(self):
        """A data directory that a server of ours has left."""
        shutil.rmtree(self.data)
        self.serves()


class Owner(Foreign):
    def setUp(self):
        needs_other_user()
        super().setUp()

    def test_directory_of_another_user(self):
        os.chown(self.data, NOBODY, NOBODY)
        self.refused(self.data, "belongs to another user (uid 65534, and this is uid 0)")
        self.assertEqual(os.listdir(self.data), [])

    def test_directory_of_root(self):
        os.chmod(self.data, 0o755)
        self.refused(self.data, "belongs to another user (uid 0, and this is uid 65534)", before=AS_NOBODY)

    def test_server_of_another_user(self):
        """Root does not take over what a user's server has left."""
        shutil.rmtree(self.data)
        self.serves(before=AS_NOBODY)
        before = {name: os.lstat(self.inside(name)) for name in os.listdir(self.data)}
        self.refused(self.data, "belongs to another user")
        after = {name: os.lstat(self.inside(name)) for name in os.listdir(self.data)}
        self.assertEqual(before, after)
        self.serves(before=AS_NOBODY)

    def test_files_of_another_user(self):
        self.used()
        for name in (*FILES, *FOLDERS):
            there = os.path.exists(self.inside(name))
            if not there:
                os.mkdir(self.inside(name), 0o700) if name in FOLDERS else self.write("store/" + name, "x")
            os.chown(self.inside(name), NOBODY, NOBODY)
            if name != "lost":  # which is looked at only when something is moved there
                with self.subTest(name):
                    self.refused(self.inside(name), "belongs to another user")
            os.chown(self.inside(name), 0, 0)
            if not there:
                os.rmdir(self.inside(name)) if name in FOLDERS else os.unlink(self.inside(name))
        self.serves()

    def test_prepared_database(self):
        """One with a user whose token the attacker knows."""
        self.used()
        os.chown(self.inside("tacho.db"), NOBODY, NOBODY)
        self.refused("tacho.db", "cannot be trusted")

    def test_link_of_another_user(self):
        self.used()
        link = self.path("link")
        os.symlink(self.data, link)
        with Server(data=link) as server:
            self.assertEqual(server.get("sessions")["sessions"], [])
        os.lchown(link, NOBODY, NOBODY)
        self.refused(link, "symbolic link of another user", data=link)
        self.refused(link, "symbolic link of another user", data=link + "/")


class Writable(Foreign):
    def test_directory(self):
        for mode in (0o770, 0o707, 0o1777):
            os.chmod(self.data, mode)
            self.refused(self.data, "chmod go-w", "%04o" % mode)
        self.assertEqual(os.listdir(self.data), [])
        # Others may know the names.
        os.chmod(self.data, 0o755)
        self.serves()

    def test_in_the_directory(self):
        self.used()
        for name in ("tacho.db", "server.lock", "raw", "spill", "upload"):
            mode = os.stat(self.inside(name)).st_mode & 0o777
            os.chmod(self.inside(name), mode | 0o020)
            with self.subTest(name):
                self.refused(self.inside(name), "chmod go-w")
            os.chmod(self.inside(name), mode)
        self.serves()


class Links(Foreign):
    def setUp(self):
        super().setUp()
        self.victim = self.write("victim", "important\n")
        os.chmod(self.victim, 0o644)

    def unharmed(self):
        with open(self.victim) as text:
            self.assertEqual(text.read(), "important\n")
        self.assertEqual(os.stat(self.victim).st_mode & 0o777, 0o644)

    def test_symbolic_links_to_files(self):
        for name in FILES:
            for target in (self.victim, self.path("not there")):
                self.plant(lambda path: os.symlink(target, path), name)
                with self.subTest(name=name, target=target):
                    self.refused(self.inside(name), "symbolic link")
                    self.unharmed()
                    self.assertFalse(os.path.exists(self.path("not there")))
                os.unlink(self.inside(name))
        self.serves()

    def test_hard_links(self):
        for name in FILES:
            self.plant(lambda path: os.link(self.victim, path), name)
            with self.subTest(name):
                self.refused(self.inside(name), "hard links")
                self.unharmed()
            os.unlink(self.inside(name))
        self.serves()

    def test_symbolic_links_to_folders(self):
        other = self.path("other")
        os.mkdir(other)
        self.write("other/mine", "x")
        for name in ("raw", "spill", "upload", "tokens"):
            os.symlink(other, self.inside(name))
            with self.subTest(name):
                self.refused(self.inside(name), "symbolic link")
                self.assertEqual(os.listdir(other), ["mine"])
            os.unlink(self.inside(name))
        self.serves()

    def test_tacho_users(self):
        """It opens the database, too."""
        os.symlink(self.victim, self.inside("tacho.db"))
        self.refused(self.inside("tacho.db"), "symbolic link", command=["users"])
        self.unharmed()

    def test_token_of_a_user(self):
        os.mkdir(self.inside("tokens"), 0o700)
        os.symlink(self.victim, self.inside("tokens/ann"))
        self.refused(self.inside("tokens/ann"), "symbolic link")
        self.unharmed()

    def test_pipes(self):
        for name in ("server.lock", "admin-token", "tacho.db"):
            self.plant(os.mkfifo, name)
            with self.subTest(name):
                self.refused(self.inside(name), "pipe")
            os.unlink(self.inside(name))


class Planted(Foreign):
    """A directory that anybody can write to, as another user prepares it."""

    def test_lock_in_a_shared_directory(self):
        needs_root("to be somebody whose file another user wants to be overwritten")
        needs_other_user()
        victim = self.write("victim", "important\n")
        os.chmod(self.data, 0o777)
        subprocess.run([*AS_NOBODY, "ln", "-s", victim, self.inside("server.lock")], check=True)
        self.refused(self.data)
        with open(victim) as text:
            self.assertEqual(text.read(), "important\n")

    def test_database_in_a_shared_directory(self):
        needs_other_user()
        self.used()
        store = sqlite3.connect(self.inside("tacho.db"))
        store.execute("UPDATE users SET token_hash = 'known to the attacker'")
        store.commit()
        store.close()
        os.chown(self.inside("tacho.db"), NOBODY, NOBODY)
        os.chmod(self.data, 0o777)
        self.refused(self.data)


if __name__ == "__main__":
    unittest.main()
